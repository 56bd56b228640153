# SPDX-License-Identifier: MIT
"""Intervals on the logarithm of new time / base time.

The unit of replication is the process: what one process measured twice tells
nothing about the next one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom, norm, t


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`, of a log ratio: log 1.02 is 2 % slower."""

    low: float
    high: float

    @property
    def ratios(self) -> tuple[float, float]:
        return math.exp(self.low), math.exp(self.high)


def pairs_for(alpha: float) -> int:
    """The fewest pairs whose extremes are an interval with error `alpha`."""
    return max(1, math.ceil(1 - math.log2(alpha)))


def median_interval(values: Sequence[float], alpha: float) -> Interval | None:
    """The interval of the median by the sign test, which supposes no distribution.

    The k-th smallest and the k-th largest of n values miss the median with
    probability 2 P(Bin(n, 1/2) < k), at most `alpha` (Conover, Practical
    Nonparametric Statistics, 3.2). None if even k = 1 misses it more often.
    """
    n = len(values)
    if n < pairs_for(alpha):
        return None
    # The first k for which the tail is too heavy; the one before is the answer.
    k = int(binom.ppf(alpha / 2, n, 0.5))
    while k > 1 and 2 * binom.cdf(k - 1, n, 0.5) > alpha:
        k -= 1
    k = max(k, 1)
    ordered = sorted(values)
    return Interval(ordered[k - 1], ordered[n - k])


def prediction_interval(
    ratio: float, spread: float, pairs: int, alpha: float
) -> Interval:
    """The interval around one log ratio that was measured once.

    `spread` is the standard deviation of the log ratio of two processes of the
    same binary, known from `pairs` of them (at least 2). By Student's t for one
    more value of a normal sample; heavy tails widen `spread` itself.
    """
    margin = float(t.ppf(1 - alpha / 2, pairs - 1)) * spread * math.sqrt(1 + 1 / pairs)
    return Interval(ratio - margin, ratio + margin)


def pairs_to_decide(spread: float, distance: float, alpha: float) -> int:
    """About how many pairs narrow the interval of the median to +-`distance`.

    For log ratios with standard deviation `spread`, whose median has a standard
    error of sqrt(pi / 2) spread / sqrt(n) if they are normal.
    """
    if distance <= 0:
        return MANY_PAIRS
    z = float(norm.ppf(1 - alpha / 2))
    needed = math.pi / 2 * (z * spread / distance) ** 2
    return int(min(MANY_PAIRS, max(pairs_for(alpha), math.ceil(needed))))


MANY_PAIRS = 1000  # nobody waits for more


def spread_of(values: Sequence[float]) -> float:
    """The standard deviation of a sample of at least 2."""
    return float(np.std(np.asarray(values, float), ddof=1))
