# SPDX-License-Identifier: MIT
"""Confidence intervals of log(new time / base time).

The unit of replication is the process: repetitions within one process say nothing
about the next process.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from scipy.special import stdtrit

from reports.results.order_statistics import interval_rank, median_ends

MANY_PAIRS = 1000  # nobody waits for more
_MANY_TO_RANK = 100  # from here on the standard error is accurate enough
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Interval:
    """The bounds of a log ratio; log 1.02 is 2 % slower."""

    low: float
    high: float

    @property
    def ratios(self) -> tuple[float, float]:
        return math.exp(self.low), math.exp(self.high)


def pairs_for(alpha: float) -> int:
    """The fewest pairs for which `median_interval` exists at `alpha`."""
    return max(1, math.ceil(1 - math.log2(alpha)))


def median_interval(values: Sequence[float], alpha: float) -> Interval | None:
    """The interval of the median by the sign test; None if there are too few values.

    The values may have different, unknown distributions. Each must be above the
    median with probability 1/2, independently of the others.
    """
    ends = median_ends(values, alpha)
    return None if ends is None else Interval(*ends)


def prediction_interval(
    ratio: float, spread: float, pairs: int, alpha: float
) -> Interval:
    """The interval around one log ratio that was measured once.

    `spread` is the standard deviation of the log ratio of two processes of the same
    binary, estimated from `pairs` pairs (at least 2). The interval is Student's t for
    one more value of a normal sample. Real tails are heavier: see `max_spread`.
    """
    margin = (
        float(stdtrit(pairs - 1, 1 - alpha / 2)) * spread * math.sqrt(1 + 1 / pairs)
    )
    return Interval(ratio - margin, ratio + margin)


def _in_scales(values: Sequence[float]) -> tuple[float, float, float]:
    """The scale of a sample, and its two extremes in units of the scale.

    The scale is the median absolute deviation, or the standard deviation if more
    than half of the values are equal.
    """
    off = np.asarray(values, float) - np.median(values)
    scale = float(np.median(np.abs(off))) or float(np.std(off))
    if scale == 0:
        return 0.0, 0.0, 0.0
    return scale, float(np.min(off)) / scale, float(np.max(off)) / scale


def max_spread(log_times: Sequence[Sequence[float]]) -> list[float]:
    """Per row, a bound on the log ratio of two processes of one binary.

    `log_times` is [row][process]. A disturbance that hits one process in twenty may
    have spared one row. Therefore the most extreme process of any row, in units of
    its row's scale, sets the bound of every row. Two more processes exceed a bound in
    one direction only if one of them is the most extreme of all n + 2 processes. The
    probability is at most 2 / (n + 2), for any distribution and any correlation of
    the rows.
    """
    found = [_in_scales(row) for row in log_times]
    lowest = min((low for _, low, _ in found), default=0.0)
    highest = max((high for _, _, high in found), default=0.0)
    return [(highest - lowest) * scale for scale, _, _ in found]


@functools.cache
def _half_width(n: int, alpha: float) -> float:
    """Half the interval of n normal values, approximately, in standard deviations."""
    k = interval_rank(n, alpha)
    if k is None:
        return math.inf
    # The expected k-th of n values (Blom, Statistical Estimates, 1958).
    return -_NORMAL.inv_cdf((k - 0.375) / (n + 0.25))


def pairs_to_decide(spread: float, distance: float, alpha: float) -> int:
    """About how many pairs narrow the interval of the median to +-`distance`.

    The log ratios are assumed normal with standard deviation `spread`. The median of
    n values then has a standard error of sqrt(pi / 2) spread / sqrt(n); the interval
    of few values is wider.
    """
    if distance <= 0:
        return MANY_PAIRS
    z = -_NORMAL.inv_cdf(alpha / 2)
    many = math.pi / 2 * (z * spread / distance) ** 2
    needed = max(pairs_for(alpha), math.ceil(min(MANY_PAIRS, many)))
    while needed < _MANY_TO_RANK and spread * _half_width(needed, alpha) > distance:
        needed += 1
    return min(MANY_PAIRS, needed)


def spread_of(values: Sequence[float]) -> float:
    """The standard deviation of a sample of at least 2 values."""
    return float(np.std(np.asarray(values, float), ddof=1))
