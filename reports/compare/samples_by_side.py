# SPDX-License-Identifier: MIT
"""The rows of every process on the base side and on the new side."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from reports.compare.decision import Decision, RowNoise, decide_once
from reports.compare.intervals import MANY_PAIRS, Pair
from reports.compare.pairing import Rows, by_name, log_ratios
from reports.compare.sequential import Plan, decide_in_sequence
from reports.results.rows import Result, Row


@dataclass(frozen=True)
class SamplesBySide:
    base: list[Rows]  # the rows of each process, in the order of their starts
    new: list[Rows]
    paired: bool  # whether base[i] and new[i] ran next to each other

    @property
    def names(self) -> list[str]:
        """The rows that both sides measured, in the order of the base side."""
        known = {name for rows in self.new for name in rows}
        first = dict.fromkeys(name for rows in self.base for name in rows)
        return [name for name in first if name in known]

    def of(self, name: str) -> tuple[list[Row], list[Row]]:
        """One row of every process that measured it: base side, new side."""
        return (
            [rows[name] for rows in self.base if name in rows],
            [rows[name] for rows in self.new if name in rows],
        )


def gather(
    base: Sequence[Result], new: Sequence[Result], paired: bool
) -> SamplesBySide:
    return SamplesBySide(list(map(by_name, base)), list(map(by_name, new)), paired)


def medians(samples: SamplesBySide, name: str) -> tuple[float, float]:
    """The median time of the row in us: base side, new side."""
    base, new = samples.of(name)
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
    """Decides by pairs if there are enough, otherwise by the A/A spread if known.

    A user adds the pairs that an inconclusive row needs, and compares again. Such
    comparisons are looks at growing data, so they follow the plan of `sequential.py`.
    """
    known = log_ratios(samples.base, samples.new, name) if samples.paired else []
    pairs = [Pair(ratio) for ratio in known]
    first = plan.looks()[0]
    if len(pairs) >= first.pairs or (len(pairs) > 1 and noise is None):
        return decide_in_sequence(pairs, plan, threshold, ended=False)
    before, after = medians(samples, name)
    alpha = plan.rest(0)
    return decide_once(math.log(after / before), alpha, threshold, noise)


def plan_for(rows: int, confidence: float) -> Plan:
    """The plan for a comparison of files, to which a user may always add more."""
    return Plan(max(1, rows), MANY_PAIRS, 1 - confidence)
