# SPDX-License-Identifier: MIT
"""The changes in a series: certain for exact counters; for times a suspicion until
pairs of processes confirm it."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from operator import attrgetter

from reports.compare import text
from reports.compare.decision import Verdict
from reports.compare.environment import WORTH_A_NOTE
from reports.compare.exact import Change, changes
from reports.history.commits import Commit
from reports.history.divisive import ChangePoint, change_points, correlation_of
from reports.history.oracle import Answer
from reports.history.series import Series
from reports.results.rows import Row

ALPHA = 0.05  # the probability that any row is suspected in a window without a change
GUARD = 2  # the possible error in the place of a change, in points
# A threshold is half of the smallest size in a suspected change's interval: a real
# change exceeds it, noise does not.
LEAST_THRESHOLD, _MOST_THRESHOLD = 0.005, 0.02


class Kind(StrEnum):
    EXACT = "exact"
    SUSPECTED = "suspected"
    CONFIRMED = "CONFIRMED"  # slower
    IMPROVED = "improved"
    REFUTED = "refuted"
    MACHINE = "machine"  # another host or compiler


KIND_OF = {
    Verdict.REGRESSED: Kind.CONFIRMED,
    Verdict.IMPROVED: Kind.IMPROVED,
    Verdict.EQUIVALENT: Kind.REFUTED,
    Verdict.INCONCLUSIVE: Kind.SUSPECTED,
}


@dataclass(frozen=True)
class Finding:
    kind: Kind
    row: str  # "" for all
    before: int  # the points between which it is, or most likely is
    after: int
    words: str
    is_worse: bool = False  # only if it is certain
    ends: tuple[int, int] = (0, 0)  # the points to compare, for a time
    least: float = 0.0  # the log ratio in the change's interval that is closest to 0
    is_asked: bool = False  # pairs of the ends have been measured

    def commits(self, series: Series, line: Sequence[Commit]) -> list[Commit]:
        """Returns the line's commits that may be the cause, most likely last."""
        first, last = (series.commits[point] for point in (self.before, self.after))
        return list(line[line.index(first) + 1 : line.index(last) + 1])


def threshold_for(least: float) -> float:
    """Returns the smallest ratio - 1 that matters for a suspected change of a time."""
    half = math.expm1(abs(least) / 2)
    # Rounded, because another threshold begins the measurement anew.
    rounded = LEAST_THRESHOLD * round(half / LEAST_THRESHOLD)
    return min(max(rounded, LEAST_THRESHOLD), _MOST_THRESHOLD)


def interval(ratio: float, ends: tuple[float, float] | None) -> str:
    """Formats a ratio and its interval in percent."""
    change = text.change(ratio)
    return f"{change} ({' to '.join(map(text.change, ends))})" if ends else change


def _machine_changes(series: Series) -> Iterator[Finding]:
    """Compares what may vary within a series: host, compiler."""
    each = ([c.get(key, "") for key in WORTH_A_NOTE] for c in series.contexts)
    for point, (old, new) in enumerate(pairwise(map(", ".join, each)), 1):
        if old != new:
            yield Finding(Kind.MACHINE, "", point - 1, point, f"{old} -> {new}")


def _exact_changes(series: Series) -> Iterator[Finding]:
    """Compares each row with the point of its last change, so that small steps within a
    tolerance cannot add up unnoticed. A row that then fails or is skipped is lost."""
    base: dict[str, list[Row]] = defaultdict(list)
    seen: dict[str, int] = {}
    for point, rows in enumerate(series.exact):
        for name, reason in {e.name: e.reason for e in series.failures[point]}.items():
            if name not in rows and seen.get(name) == point - 1:
                words = f"lost: {' '.join(reason.split())}"
                yield Finding(Kind.EXACT, name, point - 1, point, words, is_worse=True)
        for name, new in rows.items():
            found = changes(base[name], new)
            for each in found:
                words, worse = text.metric(each), each.change is not Change.BETTER
                yield Finding(Kind.EXACT, name, seen[name], point, words, worse)
            base[name] = new if found else [*base[name], *_unknown(base[name], new)]
            seen[name] = point


def _unknown(base: Sequence[Row], new: Sequence[Row]) -> Iterator[Row]:
    """Yields the new rows with the counters that no base row has."""
    known = {name for row in base for name in row.counters}
    for row in new:
        more = {name: row[name] for name in row.counters if name not in known}
        if more:
            yield replace(row, counters=more)


def _changes_by_row(series: Series, alpha: float) -> dict[str, list[ChangePoint]]:
    """Finds changes by row. All levels of all rows share the error `alpha`; one that
    changed passes its share on to the others (Holm)."""
    points = {row: series.comparable(place) for place, row in enumerate(series.rows)}
    left = {
        (which, row): levels[place, points[row]]
        for which, levels in enumerate(series.levels)
        for place, row in enumerate(series.rows)
    }
    correlations = [
        correlation_of([left[which, row] for row in series.rows])
        for which in range(len(series.levels))
    ]

    def changes_of(which: int, row: str, level: float) -> list[ChangePoint]:
        values, noise = left[which, row], series.noise[which, points[row]]
        return change_points(values, level, correlations[which], noise)

    found: dict[tuple[int, str], list[ChangePoint]] = {}
    while changed := {
        key: steps for key in left if (steps := changes_of(*key, alpha / len(left)))
    }:
        found |= changed
        left = {key: levels for key, levels in left.items() if key not in changed}
    # A change of most rows alters its size in the second level, so that the first one
    # is preferred.
    by_row: dict[str, list[ChangePoint]] = {}
    for which, row in sorted(found):
        known = by_row.setdefault(row, [])
        known += [
            step
            for step in found[which, row]
            if all(abs(step.index - other.index) > GUARD for other in known)
        ]
    return {
        row: sorted(steps, key=attrgetter("index")) for row, steps in by_row.items()
    }


def _time_changes(
    series: Series, answers: Iterable[Answer], alpha: float
) -> Iterator[Finding]:
    places = {commit.revision: place for place, commit in enumerate(series.commits)}
    # A conclusive answer on commits with the change between them is preferred, then
    # one of more pairs.
    answers = sorted(
        answers, key=lambda each: (each.verdict is Verdict.INCONCLUSIVE, -each.pairs)
    )
    known = [each for each in answers if {each.good, each.bad} <= places.keys()]
    for row, steps in _changes_by_row(series, alpha).items():
        points = series.comparable(series.rows.index(row)).tolist()
        edges = [0, *(change.index for change in steps), len(points)]
        for change, first, last in zip(steps, edges, edges[2:], strict=False):
            at = change.index
            before, after = points[at - 1], points[at]
            ends = points[max(first, at - 1 - GUARD)], points[min(last - 1, at + GUARD)]
            around = [
                each
                for each in known
                if each.name == row
                and places[each.good] <= before < after <= places[each.bad]
            ]
            asked = ((places[each.good], places[each.bad]) for each in around)
            kind = Kind.SUSPECTED
            words = interval(math.exp(change.log_ratio), change.interval.ratios)
            if answer := next(iter(around), None):
                kind = KIND_OF[answer.verdict]
                words = interval(answer.ratio, answer.interval)
                words += f" by {answer.pairs} pairs"
            worse = kind is Kind.CONFIRMED
            question = ends, change.least, ends in asked
            yield Finding(kind, row, before, after, words, worse, *question)


def findings(
    series: Series, answers: Iterable[Answer] = (), alpha: float = ALPHA
) -> list[Finding]:
    """Lists the changes by commit. `answers` are verdicts on earlier suspicions."""
    found = [
        *_machine_changes(series),
        *_exact_changes(series),
        *_time_changes(series, answers, alpha),
    ]
    return sorted(found, key=lambda each: (each.after, each.row, each.words))
