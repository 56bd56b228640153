# SPDX-License-Identifier: MIT
"""The rows of every process on the base side and on the new side."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from reports.compare.decision import Decision, RowNoise, decide_once
from reports.compare.intervals import Pair
from reports.compare.sequential import Plan, decide_in_sequence
from reports.results.rows import Result, Row

Rows = dict[str, Row]


def in_order(results: Sequence[Result]) -> list[Result]:
    """Sorts by start time; results without a date come first."""
    return sorted(results, key=lambda result: result.started or -math.inf)


def alternate(base: Sequence[Result], new: Sequence[Result]) -> bool:
    """Returns whether the sides took turns, and took turns at running first.

    Only then does drift affect both sides alike. Neither side may lead by two
    processes, and each must run first in a quarter of the pairs. The order A B A B
    would not cancel a steady drift; A B B A does, and so does a coin per pair.
    """
    sides = [[result.started for result in in_order(side)] for side in (base, new)]
    dates = [[date for date in side if date is not None] for side in sides]
    if len(base) != len(new) or dates != sides:
        return False
    starts = sorted((date, side) for side in (0, 1) for date in dates[side])
    lead = 0
    for (date, side), (following, _) in pairwise([*starts, (math.nan, 0)]):
        lead += 1 - 2 * side
        # Dates are in whole seconds: the order within a second is unknown.
        if abs(lead) > 1 and date != following:
            return False
    base_first = sum(a < b for a, b in zip(*dates, strict=True))
    new_first = sum(a > b for a, b in zip(*dates, strict=True))
    return len(base) < 4 or min(base_first, new_first) >= len(base) // 4


def log_ratios(base: Sequence[Rows], new: Sequence[Rows], name: str) -> list[float]:
    """Returns log(new time / base time) of each pair with both times of the row."""
    return [
        math.log(after[name].time_us / before[name].time_us)
        for before, after in zip(base, new, strict=True)
        if name in before and name in after
    ]


@dataclass(frozen=True)
class SamplesBySide:
    base: list[Rows]  # the rows of each process, by start time
    new: list[Rows]
    paired: bool  # whether base[i] and new[i] ran next to each other

    @property
    def names(self) -> list[str]:
        """The rows that both sides measured, in the base side's order."""
        known = {name for rows in self.new for name in rows}
        first = dict.fromkeys(name for rows in self.base for name in rows)
        return [name for name in first if name in known]

    def of(self, name: str) -> tuple[list[Row], list[Row]]:
        """Returns the row from every process that measured it: base side, new side."""
        return (
            [rows[name] for rows in self.base if name in rows],
            [rows[name] for rows in self.new if name in rows],
        )

    def medians(self, name: str) -> tuple[float, float]:
        """Returns the median time of the row in us: base side, new side."""
        base, new = self.of(name)
        return (
            statistics.median(row.time_us for row in base),
            statistics.median(row.time_us for row in new),
        )


def decide(
    samples: SamplesBySide,
    name: str,
    plan: Plan,
    threshold: float,
    noise: RowNoise | None,
) -> Decision:
    """Decides from pairs if there are enough, otherwise from the A/A spread if known.

    A user adds the pairs that an inconclusive row needs, and compares again. Such
    comparisons are looks at growing data, so they follow the plan of `sequential.py`.
    """
    known = log_ratios(samples.base, samples.new, name) if samples.paired else []
    pairs = [Pair(ratio) for ratio in known]
    first = plan.looks()[0]
    if len(pairs) >= first.pairs or (len(pairs) > 1 and noise is None):
        return decide_in_sequence(pairs, plan, threshold, ended=False)
    before, after = samples.medians(name)
    alpha = plan.rest(0)
    return decide_once(math.log(after / before), alpha, threshold, noise)
