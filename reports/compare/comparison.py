# SPDX-License-Identifier: MIT
"""Two sets of runs, row by row: what became slower, what is lost, what cannot be told."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from reports.compare import environment
from reports.compare.decision import Decision, Verdict
from reports.compare.environment import Difference, NotComparable
from reports.compare.exact import Change, MetricChange, changes
from reports.compare.noise import NoiseFile, threshold_of
from reports.compare.pairing import alternate, in_order
from reports.compare.samples_by_side import Sides, decide, gather, medians, plan_for
from reports.compare.unmatched import Unmatched, unmatched
from reports.results.rows import Result


@dataclass(frozen=True)
class Options:
    threshold: float = 0.02  # the ratio - 1 that matters
    confidence: float = 0.95  # that no interval of the whole table is wrong
    noise: NoiseFile | None = None  # the machine's A/A spread
    accepted: frozenset[str] = frozenset()  # exact metrics that may change
    pattern: str = ""  # only rows whose name it is found in
    allow_different_environment: bool = False


@dataclass(frozen=True)
class ComparedRow:
    """A row that has a number on both sides."""

    name: str
    base_us: float
    new_us: float
    decision: Decision
    changes: list[MetricChange]


@dataclass(frozen=True)
class Comparison:
    base: list[Result]
    new: list[Result]
    options: Options
    differences: list[Difference]  # of the environment, allowed by the user
    notes: list[str]
    rows: list[ComparedRow]
    unmatched: list[Unmatched]

    def of(self, verdict: Verdict) -> list[ComparedRow]:
        return [row for row in self.rows if row.decision.verdict is verdict]

    @property
    def bad_changes(self) -> list[tuple[ComparedRow, MetricChange]]:
        """Those of exact metrics that fail the comparison."""
        return [
            (row, one)
            for row in self.rows
            for one in row.changes
            if one.change is not Change.BETTER
            and one.metric not in self.options.accepted
        ]

    @property
    def failed(self) -> list[Unmatched]:
        return [one for one in self.unmatched if one.fails]

    @property
    def exit_code(self) -> int:
        bad = self.of(Verdict.REGRESSED) or self.bad_changes or self.failed
        return 1 if bad else 0


def _notes(base: list[Result], new: list[Result], sides: Sides) -> list[str]:
    contexts = [[one.context for one in side] for side in (base, new)]
    notes = [
        f"{one} differs"
        for one in environment.differences(environment.WORTH_A_NOTE, *contexts)
    ]
    for word, results in (("base", base), ("new", new)):
        early = sum(not one.complete for one in results)
        if early:
            notes.append(f"{early} of {len(results)} {word} runs stopped early")
        if any(one.context.get("git_dirty") == "true" for one in results):
            notes.append(f"{word} has changes that were not committed")
    if len(base) == len(new) == 1:
        notes.append(
            "one process per side cannot show that a time changed, unless --noise knows "
            "the A/A spread; tools/ab measures in pairs"
        )
    elif not sides.paired:
        notes.append(
            "the processes of the two sides did not take turns, so what "
            "drifted in between cannot be told from a change"
        )
    return notes


def _only(pattern: str, result: Result) -> Result:
    """The rows whose name the pattern is found in."""
    wanted = re.compile(pattern)
    return replace(
        result,
        rows=[one for one in result.rows if wanted.search(one.name)],
        skipped=[one for one in result.skipped if wanted.search(one.name)],
        errors=[one for one in result.errors if wanted.search(one.name)],
    )


def _compared(
    sides: Sides, options: Options, decisions: Mapping[str, Decision]
) -> list[ComparedRow]:
    names = sides.names
    plan = plan_for(len(names), options.confidence)
    known = options.noise.rows if options.noise else {}
    rows = []
    for name in names:
        base_us, new_us = medians(sides, name)
        decision = decisions.get(name) or decide(
            sides,
            name,
            plan,
            threshold_of(name, options.threshold, options.noise),
            known.get(name),
        )
        found = changes(*sides.of(name))
        rows.append(ComparedRow(name, base_us, new_us, decision, found))
    return rows


def compare(
    base: Sequence[Result],
    new: Sequence[Result],
    options: Options,
    decisions: Mapping[str, Decision] | None = None,
) -> Comparison:
    """Of the processes of two sides. `decisions` are those already made, by row; rows
    that were decided may then lack in later processes.

    NotComparable if the environments differ in what matters, or if neither side has
    a row to compare.
    """
    first, second = (
        [_only(options.pattern, one) for one in in_order(side)] for side in (base, new)
    )
    different = environment.check(
        [one.context for one in first],
        [one.context for one in second],
        options.noise.context if options.noise else None,
        options.allow_different_environment,
    )
    sides = gather(first, second, decisions is not None or alternate(first, second))
    rows = _compared(sides, options, decisions or {})
    others = unmatched(first, second, all_measure=decisions is None)
    # What failed on one side is a finding; two runs of other cases are none.
    if not rows and not any(one.known_to_both for one in others):
        where = f" matches {options.pattern!r} and" if options.pattern else ""
        raise NotComparable(f"no row{where} has a number on both sides")
    notes = _notes(first, second, sides)
    return Comparison(first, second, options, different, notes, rows, others)
