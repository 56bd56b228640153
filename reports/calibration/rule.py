# SPDX-License-Identifier: MIT
"""The decision rule of reports/compare, vectorized over many tables.

Ranks, looks and margins come from reports/compare. Counting replaces its sorting: the
k-th smallest of n values is above a limit if and only if fewer than k values are not.
The number of pairwise means not above it is the sum of those values' distance ranks.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binomtest

from reports.calibration.samples import Floats
from reports.compare.intervals import weights_of
from reports.compare.sequential import Look, Plan
from reports.results import text
from reports.results.order_statistics import interval_rank, signed_rank

Flags = NDArray[np.bool_]
Lines = Iterator[list[str]]  # of a table: the headings first


@dataclass(frozen=True)
class Verdicts:
    """Arrays [table, row]."""

    regressed: Flags
    improved: Flags
    equivalent: Flags
    pairs: NDArray[np.int64]  # number until the decision, or all


def _beyond(log_ratios: Floats, weights: Floats, alpha: float, limit: float) -> Flags:
    """Returns whether the interval by `intervals.pair_interval` is wholly above the
    limit, for log ratios [table, row, pair]."""
    pairs = log_ratios.shape[-1]
    signs, ranks = interval_rank(pairs, alpha / 2), signed_rank(pairs, alpha / 2)
    if signs is None or ranks is None:  # with so few pairs, both tests are the same
        signs, ranks = interval_rank(pairs, alpha), None
    distances = weights * (log_ratios - limit)
    found = (distances <= 0).sum(axis=-1) < (signs or 0)
    if ranks:
        order = np.argsort(np.abs(distances), axis=-1)
        is_below = np.take_along_axis(distances, order, axis=-1) <= 0
        found |= (is_below * np.arange(1, pairs + 1)).sum(axis=-1) < ranks
    return np.asarray(found)


def in_sequence(
    log_ratios: Floats, plan: Plan, threshold: float, errors: Floats | None = None
) -> Verdicts:
    """Decides from `log_ratios` and `errors`, [table, pair, row]; the run ends after
    all pairs. An error of 0 is unknown."""
    tables, pairs, rows = log_ratios.shape
    limit = math.log1p(threshold)
    values = np.ascontiguousarray(log_ratios.swapaxes(1, 2))
    known = np.zeros_like(values) if errors is None else errors.swapaxes(1, 2)
    open_ = np.ones((tables, rows), bool)
    regressed, improved, equivalent = np.zeros((3, tables, rows), bool)
    used = np.full((tables, rows), pairs)
    looks = plan.taken(pairs)
    for look in (*looks, Look(pairs, plan.rest(len(looks)))):
        n = look.pairs
        weights = weights_of(known[..., :n])
        up, down = (
            partial(_beyond, sign * values[..., :n], weights, look.alpha)
            for sign in (1, -1)
        )
        regressed |= open_ & up(limit)
        improved |= open_ & down(limit)
        equivalent |= open_ & up(-limit) & down(-limit)
        equivalent &= ~regressed & ~improved
        decided = open_ & (regressed | improved | equivalent)
        used[decided] = n
        open_ &= ~decided
    return Verdicts(regressed, improved, equivalent, used)


def ratios(log_medians: Floats, new_first: Flags) -> Floats:
    """Returns log(new / base) of neighboring processes, [table, pair, row].

    `new_first`, [pair] or [table, pair], is whether the new side ran first.
    """
    later = log_medians[:, 1::2] - log_medians[:, 0::2]
    sign = np.where(new_first, -1.0, 1.0)
    return np.asarray(later * sign[..., None])


def abba(pairs: int) -> Flags:
    """Returns the order A B B A: the new side runs first in every other pair."""
    return np.asarray(np.arange(pairs) % 2 == 1)


def at_most(count: int, of: int) -> float:
    """Returns the upper end of a rate's two-sided 95 % Clopper-Pearson interval."""
    return float(binomtest(count, of).proportion_ci().high)


def share(count: int, of: int) -> str:
    """Formats the rate in percent; 100 % only if all count."""
    if of - count and count / of > 0.99:
        return "> 99 %"
    return text.percent(count / of)


def share_of(found: ArrayLike) -> str:
    return share(int(np.count_nonzero(found)), np.size(found))


def share_in_pairs(found: ArrayLike, of: Verdicts) -> str:
    """Formats the share, and the median number of pairs that a REGRESSED row takes."""
    pairs = f" in {np.median(of.pairs[of.regressed]):.0f}" if np.any(found) else ""
    return share_of(found) + pairs


def bounded(found: ArrayLike) -> str:
    """Formats the share with the upper end of its interval."""
    most = at_most(int(np.count_nonzero(found)), np.size(found))
    return f"{share_of(found)} (≤ {text.percent(most)})"
