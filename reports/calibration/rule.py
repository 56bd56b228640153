# SPDX-License-Identifier: MIT
"""The decision rule of reports/compare, vectorized over many tables.

Ranks, looks and margins come from reports/compare. Counting replaces its sorting: the
k-th smallest of n values is above a limit if and only if n - k + 1 values are.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reports.calibration.samples import Floats
from reports.compare.intervals import prediction_interval
from reports.compare.sequential import Plan
from reports.results.order_statistics import interval_rank

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Verdicts:
    """Arrays [table, row]."""

    regressed: Flags
    improved: Flags
    equivalent: Flags
    pairs: NDArray[np.int64]  # until the decision, or all

    def any_regressed(self) -> int:
        """The number of tables with at least one such row."""
        return int(self.regressed.any(axis=1).sum())

    def any_improved(self) -> int:
        return int(self.improved.any(axis=1).sum())

    def any_equivalent(self) -> int:
        return int(self.equivalent.any(axis=1).sum())


def _looks(plan: Plan, pairs: int) -> list[tuple[int, float]]:
    looks = [(look.pairs, look.alpha) for look in plan.looks() if look.pairs <= pairs]
    return [*looks, (pairs, plan.rest(len(looks)))]


def in_sequence(log_ratios: Floats, plan: Plan, threshold: float) -> Verdicts:
    """`log_ratios` is [table, pair, row]; the run ends after all pairs."""
    tables, pairs, rows = log_ratios.shape
    limit = math.log1p(threshold)
    slower = np.cumsum(log_ratios > limit, axis=1, dtype=np.int16)
    faster = np.cumsum(log_ratios < -limit, axis=1, dtype=np.int16)
    open_ = np.ones((tables, rows), bool)
    regressed, improved, equivalent = np.zeros((3, tables, rows), bool)
    used = np.full((tables, rows), pairs)
    for n, alpha in _looks(plan, pairs):
        k = interval_rank(n, alpha)
        if k is None:
            continue
        above, below = slower[:, n - 1], faster[:, n - 1]
        regressed |= open_ & (above > n - k)
        improved |= open_ & (below > n - k)
        equivalent |= open_ & (above < k) & (below < k)
        decided = open_ & (regressed | improved | equivalent)
        used[decided] = n
        open_ &= ~decided
    return Verdicts(regressed, improved, equivalent, used)


def ratios(log_medians: Floats, new_first: Flags) -> Floats:
    """log(new / base) of neighbouring processes, [table, pair, row].

    `new_first`, [pair] or [table, pair], says which side ran first.
    """
    later = log_medians[:, 1::2] - log_medians[:, 0::2]
    sign = np.where(new_first, -1.0, 1.0)
    return np.asarray(later * (sign if sign.ndim == 2 else sign[None, :])[..., None])


def abba(pairs: int) -> Flags:
    """The order A B B A: the new side runs first in every other pair."""
    return np.asarray(np.arange(pairs) % 2 == 1)


def margins(spread: Floats, reach: Floats, pairs: int, alpha: float) -> Floats:
    """Half the interval of one process a side, as in `decide_once`."""
    unit = prediction_interval(0.0, 1.0, pairs, alpha).high
    return np.maximum(unit * spread, reach)


def max_spread(log_times: Floats) -> Floats:
    """As `intervals.max_spread`: [table, row] from [table, process, row]."""
    off = log_times - np.median(log_times, axis=1, keepdims=True)
    scale = np.median(np.abs(off), axis=1)
    units = off / scale[:, None]
    widest = units.max(axis=(1, 2)) - units.min(axis=(1, 2))
    return np.asarray(widest[:, None] * scale)
