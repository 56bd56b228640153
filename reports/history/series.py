# SPDX-License-Identifier: MIT
"""The results of one machine as points in commit order.

A point is a commit. It pools the processes of all its results, since repetitions in
one process do not predict the next process.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reports.compare.environment import WORTH_A_NOTE
from reports.history.commits import Commit
from reports.history.index import Entry
from reports.history.store import fingerprint
from reports.results.order_statistics import interval_rank
from reports.results.rows import Row

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """The points with one fingerprint. A different one begins another series."""

    commits: list[Commit]  # one for each point
    contexts: list[dict[str, str]]  # of each point
    rows: list[str]
    medians: Floats  # us, [row, point]; NaN: not measured, or on a null GPU
    lows: Floats  # the ends of the interval over processes (`_ends`)
    highs: Floats
    exact: list[dict[str, list[Row]]]  # of each point, by row name

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.contexts[-1])

    @property
    def system(self) -> str:
        """A description of the system for people."""
        words = (self.contexts[-1].get(key, "unknown") for key in ("device", "torch"))
        threads = self.contexts[-1].get("threads", "unknown")
        return f"{', torch '.join(words)}, {threads} threads"

    @cached_property
    def machines(self) -> list[str]:
        """The context of each point that may vary within a series: host, compiler."""
        return [
            ", ".join(c.get(key, "") for key in WORTH_A_NOTE) for c in self.contexts
        ]

    def points(self, row: int) -> NDArray[np.int64]:
        """Returns the points that have a time of the row."""
        return np.flatnonzero(np.isfinite(self.medians[row]))

    def time(self, row: int, point: int) -> tuple[float, float, float]:
        """Returns the median and the ends of its interval, in us."""
        median, low, high = (
            float(each[row, point]) for each in (self.medians, self.lows, self.highs)
        )
        return median, low, high


def _pooled(entries: Sequence[Entry], places: Mapping[str, int]) -> Floats:
    """Returns the times of all processes of a commit, [row, process]; NaN for none."""
    parts = []
    for entry in entries:
        part = np.full((len(places), entry.times.shape[1]), np.nan)
        rows = [places[row] for row in entry.rows]
        part[rows] = np.where(entry.times > 0, entry.times, np.nan)
        parts.append(part)
    return np.hstack(parts)


def _ends(times: Floats) -> tuple[Floats, Floats, Floats]:
    """Returns the median of each row and the ends of its 95 % interval, or with fewer
    than 6 processes the ends of their range, which is only a hint."""
    ordered = np.sort(times, axis=1)  # NaN last
    counts = np.isfinite(ordered).sum(axis=1)
    k = np.array([interval_rank(int(count), 0.05) or 1 for count in counts], int) - 1
    rows, last = np.arange(len(ordered)), np.maximum(counts - 1, 0)
    middle = (ordered[rows, last // 2] + ordered[rows, (last + 1) // 2]) / 2
    return middle, ordered[rows, k], ordered[rows, np.maximum(last - k, 0)]


def _exact(entries: Sequence[Entry]) -> dict[str, list[Row]]:
    """Returns by row the exact counters of all results of a commit."""
    found: dict[str, list[Row]] = defaultdict(list)
    for entry in entries:
        for name, rows in zip(entry.rows, entry.exact, strict=True):
            found[name] += rows
    return dict(found)


def _series(by_commit: Mapping[str, list[Entry]], line: Sequence[Commit]) -> Series:
    commits = [commit for commit in line if commit.revision in by_commit]
    groups = [by_commit[commit.revision] for commit in commits]
    names = (row for group in groups for entry in group for row in entry.rows)
    places = {row: place for place, row in enumerate(dict.fromkeys(names))}
    ends = [_ends(_pooled(group, places)) for group in groups]
    medians, lows, highs = (np.array(each).T for each in zip(*ends, strict=True))
    contexts = [group[-1].context for group in groups]
    exact = [_exact(group) for group in groups]
    return Series(commits, contexts, list(places), medians, lows, highs, exact)


def series_of(entries: Sequence[Entry], line: Sequence[Commit]) -> list[Series]:
    """Makes a series for each fingerprint from commits on the line, last measured last.
    `entries` are ordered by start time."""
    known = {commit.revision for commit in line}
    found: dict[str, dict[str, list[Entry]]] = {}
    for entry in entries:
        revision = entry.context["git_revision"]
        if revision in known:
            key = fingerprint(entry.context)
            found[key] = commits = found.pop(key, {})
            commits.setdefault(revision, []).append(entry)
    return [_series(by_commit, line) for by_commit in found.values()]
