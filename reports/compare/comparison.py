# SPDX-License-Identifier: MIT
"""Compares two sets of runs row by row: times, exact metrics, missing rows."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from reports.compare import environment
from reports.compare.decision import Decision, Verdict
from reports.compare.environment import Difference, NotComparable
from reports.compare.exact import Change, MetricChange, changes
from reports.compare.intervals import MANY_PAIRS, Pair
from reports.compare.noise import NoiseFile, threshold_of
from reports.compare.sequential import Plan, decide_from_files
from reports.results.counters import default_table
from reports.results.rows import Failure, Result, Row

Rows = dict[str, Row]


@dataclass(frozen=True)
class Unmatched:
    name: str
    base: str  # "measured", "absent", "skipped: reason", "error: reason"
    new: str
    fails: bool  # the new side lost the row, or has an error

    @property
    def failure(self) -> str:
        """How the new side fails; "" if it does not."""
        if not self.fails:
            return ""
        return "FAILED" if self.new.startswith("error") else "LOST"

    @property
    def known_to_both(self) -> bool:
        return "absent" not in (self.base, self.new)


def _states(results: Iterable[Result]) -> dict[str, list[str]]:
    """Returns by row name the state in every run that lists the row."""
    states: dict[str, list[str]] = {}
    for result in results:
        for row in result.rows:
            states.setdefault(row.name, []).append("measured")
        for word, failures in (("skipped", result.skipped), ("error", result.errors)):
            for failure in failures:
                states.setdefault(failure.name, []).append(f"{word}: {failure.reason}")
    return states


def _summary(states: Sequence[str], runs: int, all_measure: bool) -> str:
    """Returns the worst state, with the number of runs if not all have it."""
    for word in ("error", "skipped"):
        if found := [state for state in states if state.startswith(word)]:
            often = f" (in {len(found)} of {runs} runs)" if len(found) < runs else ""
            return found[0] + often
    if states and len(states) < runs and all_measure:
        return f"absent in {runs - len(states)} of {runs} runs"
    return "measured" if states else "absent"


def unmatched(
    base: Sequence[Result], new: Sequence[Result], all_measure: bool
) -> list[Unmatched]:
    """Returns the rows without a number on one side, or in one run.

    Without `all_measure`, a row needs a number in only one run of each side: tools/ab
    stops measuring decided rows.
    """
    befores, afters = _states(base), _states(new)
    found = []
    for name in {**befores, **afters}:
        before, after = befores.get(name, []), afters.get(name, [])
        in_base = _summary(before, len(base), all_measure)
        in_new = _summary(after, len(new), all_measure)
        if in_base == in_new == "measured":
            continue
        lost = "measured" in before and "measured" not in after
        fails = lost or in_new.startswith("error")
        found.append(Unmatched(name, in_base, in_new, fails))
    return found


@dataclass(frozen=True)
class Options:
    threshold: float = 0.02  # the smallest ratio - 1 that matters
    confidence: float = 0.95  # probability that every interval of the table is right
    noise: NoiseFile | None = None  # the machine's A/A spread
    accepted: frozenset[str] = frozenset()  # exact metrics that may change
    pattern: str = ""  # a regular expression that row names must match
    allow_different_environment: bool = False


@dataclass(frozen=True)
class ComparedRow:
    """A row that both sides measured."""

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
    differences: list[Difference]  # in the environment, allowed by the user
    notes: list[str]
    rows: list[ComparedRow]
    unmatched: list[Unmatched]
    ended: bool = False  # a run of tools/ab that takes no further pairs

    def of(self, verdict: Verdict) -> list[ComparedRow]:
        return [row for row in self.rows if row.decision.verdict is verdict]

    @property
    def bad_changes(self) -> list[tuple[ComparedRow, MetricChange]]:
        """The changes of exact metrics that fail the comparison."""
        return [
            (row, found)
            for row in self.rows
            for found in row.changes
            if found.change is not Change.BETTER
            and found.metric not in self.options.accepted
        ]

    @property
    def failed(self) -> list[Unmatched]:
        return [row for row in self.unmatched if row.fails]

    @property
    def exit_code(self) -> int:
        bad = self.of(Verdict.REGRESSED) or self.bad_changes or self.failed
        return 1 if bad else 0


def _notes(base: list[Result], new: list[Result], paired: bool) -> list[str]:
    contexts = [[result.context for result in side] for side in (base, new)]
    notes = [
        f"{key} differs"
        for key in environment.differences(environment.WORTH_A_NOTE, *contexts)
    ]
    for word, results in (("base", base), ("new", new)):
        if early := sum(not result.complete for result in results):
            notes.append(f"{early} of {len(results)} {word} runs stopped early")
        if any(result.is_dirty for result in results):
            notes.append(f"{word} has changes that were not committed")
    if any(one == other for one in base for other in new):
        notes.append("base and new have a run in common")
    if len(base) == len(new) == 1:
        notes.append(
            "one file per side cannot show that a time changed, unless --noise knows "
            "the A/A spread; tools/ab measures in pairs"
        )
    elif not paired:
        notes.append(
            "the processes of the two sides did not take turns, so drift between them "
            "cannot be distinguished from a change"
        )
    return notes


def only(pattern: str, result: Result) -> Result:
    """Keeps only rows with a name that matches the pattern. A row with the finding
    `wrong` counts as failed: its time is meaningless."""
    wanted = re.compile(pattern)
    rows = [row for row in result.rows if wanted.search(row.name)]
    wrong = [
        Failure(row.name, f"wrong result: {row.findings['wrong']}")
        for row in rows
        if "wrong" in row.findings
    ]
    return replace(
        result,
        rows=[row for row in rows if "wrong" not in row.findings],
        skipped=[row for row in result.skipped if wanted.search(row.name)],
        errors=[row for row in result.errors if wanted.search(row.name)] + wrong,
    )


def _pairs_of(base: Sequence[Rows], new: Sequence[Rows], name: str) -> list[Pair]:
    """Returns log(new time / base time) of each pair with both times of the row."""
    return [
        Pair(math.log(after[name].time_us / before[name].time_us))
        for before, after in zip(base, new, strict=True)
        if name in before and name in after
    ]


def _compared(
    sides: tuple[list[Rows], list[Rows]],
    paired: bool,
    options: Options,
    decisions: Mapping[str, Decision],
) -> list[ComparedRow]:
    """Compares the rows that both sides measured, in the base side's order. If
    `paired`, the processes in the same place of both sides ran next to each other."""
    first, known = (dict.fromkeys(n for rows in side for n in rows) for side in sides)
    names = [name for name in first if name in known]
    # A user may always add more files.
    plan = Plan(max(1, len(names)), MANY_PAIRS, 1 - options.confidence)
    noise = options.noise.rows if options.noise else {}
    rows = []
    for name in names:
        base, new = ([rows[name] for rows in side if name in rows] for side in sides)
        base_us, new_us = (median(row.time_us for row in of) for of in (base, new))
        decision = decisions.get(name) or decide_from_files(
            _pairs_of(*sides, name) if paired else [],
            math.log(new_us / base_us),
            plan,
            threshold_of(name, options.threshold, options.noise),
            noise.get(name),
        )
        rows.append(ComparedRow(name, base_us, new_us, decision, changes(base, new)))
    return rows


def _check_accepted(accepted: Iterable[str], results: Iterable[Result]) -> None:
    # These rows may lack one: the same command serves other rows, too.
    exact = {name for name in default_table().compared if "*" not in name} | {
        name
        for result in results
        for row in result.rows
        for name in row.counters
        if row.table.find(name).is_compared
    }
    for name in accepted:
        if name not in exact:
            allowed = ", ".join(sorted(exact))
            raise NotComparable(f"--accept names {name!r}; allowed: {allowed}")


def compare(
    base: Sequence[Result],
    new: Sequence[Result],
    options: Options,
    decide: Callable[[], Mapping[str, Decision]] | None = None,
) -> Comparison:
    """Compares the processes of two sides.

    `decide` returns the decisions of tools/ab by row, if the sides are comparable;
    later processes may lack decided rows. Errors: NotComparable, if the environments
    differ in a way that matters, if the sides have no row in common, or if no row has
    an accepted metric.
    """
    first, second = (
        [only(options.pattern, result) for result in environment.in_order(side)]
        for side in (base, new)
    )
    _check_accepted(options.accepted, [*base, *new])
    different = environment.check(
        [result.context for result in first],
        [result.context for result in second],
        options.noise.context if options.noise else None,
        options.allow_different_environment,
    )
    paired = decide is not None or environment.alternate(first, second)
    sides = [one.by_name for one in first], [one.by_name for one in second]
    rows = _compared(sides, paired, options, decide() if decide else {})
    others = unmatched(first, second, all_measure=decide is None)
    # With nothing to compare, a failed row that both sides list is still a finding; a
    # row that one side lacks, or that both skipped, is not.
    if not rows and not any(row.known_to_both and row.fails for row in others):
        where = f" matches {options.pattern!r} and" if options.pattern else ""
        raise NotComparable(f"no row{where} has a number on both sides")
    notes = _notes(first, second, paired)
    return Comparison(first, second, options, different, notes, rows, others)
