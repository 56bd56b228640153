# SPDX-License-Identifier: MIT
"""The rows of all processes of two sides, and what their times say."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from reports.compare.decision import Decision, RowNoise, decide_once
from reports.compare.intervals import MANY_PAIRS
from reports.compare.pairing import Rows, by_name, log_ratios
from reports.compare.sequential import Plan, decide_in_sequence
from reports.results.rows import Result, Row


@dataclass(frozen=True)
class Sides:
    base: list[Rows]  # by name, one per process, in order of time
    new: list[Rows]
    paired: bool  # whether the processes of the two sides are neighbours

    @property
    def names(self) -> list[str]:
        """Of the rows with a number on both sides, in the order of the base."""
        known = {name for rows in self.new for name in rows}
        first = dict.fromkeys(name for rows in self.base for name in rows)
        return [name for name in first if name in known]

    def of(self, name: str) -> tuple[list[Row], list[Row]]:
        """The row in each process of each side that has it."""
        return (
            [rows[name] for rows in self.base if name in rows],
            [rows[name] for rows in self.new if name in rows],
        )


def gather(base: Sequence[Result], new: Sequence[Result], paired: bool) -> Sides:
    return Sides([by_name(one) for one in base], [by_name(one) for one in new], paired)


def medians(sides: Sides, name: str) -> tuple[float, float]:
    """Of the times of the row in us, for each side."""
    base, new = sides.of(name)
    return (
        statistics.median(row.time_us for row in base),
        statistics.median(row.time_us for row in new),
    )


def decide(
    sides: Sides, name: str, plan: Plan, threshold: float, noise: RowNoise | None
) -> Decision:
    """By pairs if there are enough, else by the known A/A spread if there is one.

    Whoever is told how many more pairs it takes, adds them and asks again, looks more
    than once: so these are the planned looks of `sequential.py`, too.
    """
    ratios = log_ratios(sides.base, sides.new, name) if sides.paired else []
    first = plan.looks()[0]
    if len(ratios) >= first.pairs or (len(ratios) > 1 and noise is None):
        return decide_in_sequence(ratios, plan, threshold, ended=False)
    before, after = medians(sides, name)
    alpha = plan.rest(0)
    return decide_once(math.log(after / before), alpha, threshold, noise)


def plan_for(rows: int, confidence: float) -> Plan:
    """Of files, to which there may always be more."""
    return Plan(max(1, rows), MANY_PAIRS, 1 - confidence)
