# SPDX-License-Identifier: MIT
"""Confidence intervals of log(new time / base time).

The unit of replication is the process: repetitions within one process say nothing
about the next process.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from reports.results.order_statistics import median_ends, signed_rank

MANY_PAIRS = 1000  # nobody waits for more
# Of the log time, that a process keeps for life even on a quiet machine: no pair is
# more exact.
KEPT = 0.005


@dataclass(frozen=True)
class Interval:
    """The bounds of a log ratio; log 1.02 is 2 % slower."""

    low: float
    high: float

    @property
    def ratios(self) -> tuple[float, float]:
        return math.exp(self.low), math.exp(self.high)


class Pair(NamedTuple):
    """What a pair of processes says about a row."""

    log_ratio: float  # new / base
    error: float = 0.0  # standard error within the pair, as far as it has rounds

    @property
    def weight(self) -> float:
        return 1 / math.hypot(self.error, KEPT)


def pairs_for(alpha: float) -> int:
    """The fewest pairs for which `pair_interval` exists at `alpha`."""
    return max(1, math.ceil(1 - math.log2(alpha)))


def pair_interval(pairs: Sequence[Pair], alpha: float) -> Interval | None:
    """The interval of the log ratio behind the pairs; None if they are too few.

    A coin decides the roles in each pair, so each log ratio is symmetric about the
    true one, whatever its distribution. Two tests share `alpha`. Wilcoxon's
    signed-rank test is nearly as sharp as Student's t where the noise is normal; it
    ranks the distances in units of each pair's error, so that a disturbed pair says
    less. The sign test is sharper where a few pairs are far off.
    """
    values = [pair.log_ratio for pair in pairs]
    fewest = median_ends(values, alpha)
    signs, ranks = median_ends(values, alpha / 2), _rank_ends(pairs, alpha / 2)
    if signs is None or ranks is None:  # with so few, both tests are the same
        return None if fewest is None else Interval(*fewest)
    low, high = max(signs[0], ranks[0]), min(signs[1], ranks[1])
    return Interval(low, high) if low <= high else Interval(*signs)


def _rank_ends(pairs: Sequence[Pair], alpha: float) -> tuple[float, float] | None:
    k = signed_rank(len(pairs), alpha)
    if k is None:
        return None
    values = np.array([pair.log_ratio for pair in pairs])
    weights = np.array([pair.weight for pair in pairs])
    i, j = np.triu_indices(len(pairs))
    # At a pairwise mean, weighted so, both have the same distance in their errors.
    means = np.sort(
        (weights[i] * values[i] + weights[j] * values[j]) / (weights[i] + weights[j])
    )
    return float(means[k - 1]), float(means[-k])


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
    """Half the interval of n normal values, approximately, in standard deviations: by
    Student's t, which the signed-rank test takes pi / 3 times as many values for."""
    return float(stdtrit(n - 1, 1 - alpha / 4)) * math.sqrt(math.pi / 3 / n)


def pairs_to_decide(spread: float, distance: float, alpha: float) -> int:
    """About how many pairs narrow their interval to +-`distance`, if the log ratios
    are normal with standard deviation `spread`."""
    if distance <= 0:
        return MANY_PAIRS
    few, many = max(2, pairs_for(alpha)), MANY_PAIRS
    while few < many:
        middle = (few + many) // 2
        if spread * _half_width(middle, alpha) > distance:
            few = middle + 1
        else:
            many = middle
    return few


def spread_of(values: Sequence[float]) -> float:
    """The standard deviation of a sample of at least 2 values."""
    return float(np.std(np.asarray(values, float), ddof=1))
