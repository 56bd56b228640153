# SPDX-License-Identifier: MIT
"""Two sets of runs, row by row: what became slower, what is lost, what cannot be told."""

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from reports.compare import environment
from reports.compare.decision import Decision, Verdict, decide_once, decide_pairs
from reports.compare.environment import Difference, NotComparable
from reports.compare.exact import Change, MetricChange, changes
from reports.compare.intervals import pairs_for
from reports.compare.noise import NoiseFile
from reports.compare.pairing import Rows, alternate, by_name, in_order, log_ratios
from reports.compare.unmatched import Unmatched, unmatched
from reports.rows import Result


@dataclass(frozen=True)
class Options:
    threshold: float = 0.02  # the ratio - 1 that matters
    confidence: float = 0.95  # that no interval of the whole table is wrong
    noise: NoiseFile | None = None  # the machine's A/A spread
    accepted: frozenset[str] = frozenset()  # exact metrics that may change
    pattern: str = ""  # only rows whose name it is found in
    allow_different_environment: bool = False

    def threshold_of(self, name: str) -> float:
        """No less than what the machine cannot tell from nothing."""
        noise = self.noise.rows.get(name) if self.noise else None
        return max(self.threshold, noise.floor) if noise else self.threshold


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


@dataclass
class _Sides:
    """The rows of all processes by name; the processes in order of time."""

    base: list[Rows]
    new: list[Rows]
    paired: bool
    names: list[str] = field(default_factory=list)  # with a number on both sides

    def times(self, rows: Sequence[Rows], name: str) -> list[float]:
        return [one[name].time_us for one in rows if name in one]


def _gather(base: list[Result], new: list[Result], paired: bool) -> _Sides:
    sides = _Sides(
        [by_name(one) for one in base], [by_name(one) for one in new], paired
    )
    known = {name for rows in sides.new for name in rows}
    first = dict.fromkeys(name for rows in sides.base for name in rows)
    sides.names = [name for name in first if name in known]
    return sides


def _decide(sides: _Sides, name: str, options: Options) -> Decision:
    alpha = (1 - options.confidence) / len(sides.names)
    threshold = options.threshold_of(name)
    noise = options.noise.rows.get(name) if options.noise else None
    ratios = log_ratios(sides.base, sides.new, name) if sides.paired else []
    if len(ratios) >= pairs_for(alpha) or (len(ratios) > 1 and noise is None):
        return decide_pairs(ratios, alpha, threshold)
    medians = [
        statistics.median(sides.times(rows, name)) for rows in (sides.base, sides.new)
    ]
    return decide_once(math.log(medians[1] / medians[0]), alpha, threshold, noise)


def _check_environment(
    base: list[Result], new: list[Result], options: Options
) -> list[Difference]:
    contexts = [[one.context for one in side] for side in (base, new)]
    found = environment.differences(environment.MUST_AGREE, *contexts)
    if found and not options.allow_different_environment:
        listed = "; ".join(map(str, found))
        raise NotComparable(
            f"the environments differ in {listed}; "
            "--allow-different-environment compares them all the same"
        )
    if options.noise is not None:
        other = environment.differences(
            environment.MUST_AGREE, [options.noise.context], contexts[1]
        )
        if other and not options.allow_different_environment:
            raise NotComparable(
                "the A/A spread is that of another environment: it differs in "
                + "; ".join(map(str, other))
            )
    return found


def _notes(base: list[Result], new: list[Result], sides: _Sides) -> list[str]:
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
    if max(len(base), len(new)) > 1 and not sides.paired:
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


def compare(
    base: Sequence[Result],
    new: Sequence[Result],
    options: Options,
    decisions: Mapping[str, Decision] | None = None,
) -> Comparison:
    """Of the processes of two sides. `decisions` are those already made, by row.

    NotComparable if the environments differ in what matters, or if no row has a
    number on both sides.
    """
    first, second = (
        [_only(options.pattern, one) for one in in_order(side)] for side in (base, new)
    )
    different = _check_environment(first, second, options)
    paired = decisions is not None or alternate(first, second)
    sides = _gather(first, second, paired)
    if not sides.names:
        where = f" matches {options.pattern!r} and" if options.pattern else ""
        raise NotComparable(f"no row{where} has a number on both sides")
    given = decisions or {}
    rows = [
        ComparedRow(
            name=name,
            base_us=statistics.median(sides.times(sides.base, name)),
            new_us=statistics.median(sides.times(sides.new, name)),
            decision=given.get(name) or _decide(sides, name, options),
            changes=changes(
                [one[name] for one in sides.base if name in one],
                [one[name] for one in sides.new if name in one],
            ),
        )
        for name in sides.names
    ]
    return Comparison(
        first,
        second,
        options,
        different,
        _notes(first, second, sides),
        rows,
        unmatched(first, second),
    )
