# SPDX-License-Identifier: MIT
"""Confidence intervals of log(new time / base time).

The unit of replication is the process: repetitions within one process do not predict
the next process.
"""

import functools
import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from reports.results.levels import Floats as Floats
from reports.results.order_statistics import median_ends, signed_rank

MANY_PAIRS = 1000  # more are impractical
# Error of the log time that a process keeps until it exits, even on a quiet machine:
# a lower bound on the error of a pair.
KEPT = 0.005
_MOST = 700.0  # logarithm of a ratio; a damaged noise floor may imply more


@dataclass(frozen=True)
class Interval:
    """The bounds of a log ratio; log 1.02 is 2 % slower."""

    low: float
    high: float

    @property
    def ratios(self) -> tuple[float, float]:
        return math.exp(max(self.low, -_MOST)), math.exp(min(self.high, _MOST))


class Pair(NamedTuple):
    """A row's log ratio in one pair of processes."""

    log_ratio: float  # new / base
    error: float = 0.0  # standard error within the pair; 0 if unknown


def weights_of(errors: Floats) -> Floats:
    """Returns the weights of pairs with these errors, along the last axis; an unknown
    error, 0, may be as large as any."""
    largest = errors.max(axis=-1, keepdims=True)
    return np.asarray(1 / np.hypot(np.where(errors == 0, largest, errors), KEPT))


def pairs_for(alpha: float) -> int:
    """Returns the fewest pairs for which `pair_interval` exists at `alpha`."""
    return max(1, math.ceil(1 - math.log2(alpha)))


def pair_interval(pairs: Sequence[Pair], alpha: float) -> Interval | None:
    """Returns the interval of the true log ratio; None if there are too few pairs.

    A coin decides the roles in each pair, so each log ratio is symmetric about the true
    one, whatever its distribution. Two tests share `alpha`. Wilcoxon's signed-rank test
    is nearly as powerful as Student's t if the noise is normal; it ranks the distances
    in units of each pair's error, so that a disturbed pair has less weight. The sign
    test is more powerful if a few pairs are outliers.
    """
    values = [pair.log_ratio for pair in pairs]
    fewest = median_ends(values, alpha)
    signs, ranks = median_ends(values, alpha / 2), _rank_ends(pairs, alpha / 2)
    if signs is None or ranks is None:  # with so few pairs, both tests are the same
        return None if fewest is None else Interval(*fewest)
    low, high = max(signs[0], ranks[0]), min(signs[1], ranks[1])
    return Interval(low, high) if low <= high else Interval(*signs)


def _rank_ends(pairs: Sequence[Pair], alpha: float) -> tuple[float, float] | None:
    k = signed_rank(len(pairs), alpha)
    if k is None:
        return None
    values = np.array([pair.log_ratio for pair in pairs])
    weights = weights_of(np.array([pair.error for pair in pairs]))
    i, j = np.triu_indices(len(pairs))
    # Both pairs are equally far, in units of their errors, from their weighted mean.
    means = np.sort(
        (weights[i] * values[i] + weights[j] * values[j]) / (weights[i] + weights[j])
    )
    return float(means[k - 1]), float(means[-k])


def prediction_interval(
    ratio: float, spread: float, pairs: int, alpha: float
) -> Interval:
    """Returns the interval around a log ratio that was measured once.

    `spread` is the standard deviation of the log ratio of two processes of the same
    binary, estimated from `pairs` pairs (at least 2). The interval is Student's t for
    one more value of a normal sample. Real tails are heavier: see `max_spread`.
    """
    margin = (
        float(stdtrit(pairs - 1, 1 - alpha / 2)) * spread * math.sqrt(1 + 1 / pairs)
    )
    return Interval(ratio - margin, ratio + margin)


def _in_scales(values: Floats) -> tuple[Floats, Floats]:
    """Returns the scale of each sample, along the last axis, and the deviations from
    its median in units of the scale.

    The scale is the median absolute deviation, or the standard deviation if more than
    half of the values are equal.
    """
    off = values - np.median(values, axis=-1, keepdims=True)
    scale = np.median(np.abs(off), axis=-1, keepdims=True)
    scale = np.where(scale > 0, scale, np.std(off, axis=-1, keepdims=True))
    return scale[..., 0], off / np.where(scale > 0, scale, 1)


def max_spread(log_times: Sequence[ArrayLike]) -> list[Floats]:
    """Returns per row a bound on the log ratio of two processes of one binary.

    `log_times` has an array [..., process] for each row. A disturbance that affects one
    process in twenty may have missed one row. Therefore the most extreme process of any
    row, in units of its row's scale, sets the bound of every row. Two more processes
    exceed a bound in one direction only if one of them is more extreme, in some row,
    than all n. The probability is at most 2 / (n + 1) for any correlation of the rows,
    and 4 / (n + 1) in either direction, apart from the error of the scales: with a
    dozen processes, equal times make a scale too small.
    """
    found = [_in_scales(np.asarray(times, float)) for times in log_times]
    lowest = np.min([off.min(axis=-1) for _, off in found], axis=0, initial=0)
    highest = np.max([off.max(axis=-1) for _, off in found], axis=0, initial=0)
    return [(highest - lowest) * scale for scale, _ in found]


@functools.cache
def _half_width(n: int, alpha: float) -> float:
    """Approximates half the interval of n normal values, in standard deviations, by
    Student's t; the signed-rank test needs pi / 3 times as many values."""
    return float(stdtrit(n - 1, 1 - alpha / 4)) * math.sqrt(math.pi / 3 / n)


def pairs_to_decide(spread: float, distance: float, alpha: float) -> int:
    """Estimates how many pairs narrow their interval to +-`distance`, if the log ratios
    are normal with standard deviation `spread`."""
    if distance <= 0:
        return MANY_PAIRS
    counts = range(max(2, pairs_for(alpha)), MANY_PAIRS)
    return counts.start + bisect_left(
        counts, True, key=lambda n: spread * _half_width(n, alpha) <= distance
    )
