# SPDX-License-Identifier: MIT
"""The results of one machine as points in commit order. A point is a commit: it pools
the processes of all its results, since repetitions in one process do not predict the
next process."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from reports.compare.intervals import Floats
from reports.history.commits import Commit
from reports.history.index import Entry
from reports.history.store import fingerprint
from reports.results.levels import levels_of
from reports.results.order_statistics import interval_rank
from reports.results.rows import Failure, Row, grouped
from reports.results.text import plural

FEWEST = 5  # processes of a point; of fewer, a slow one or two move the level


@dataclass(frozen=True)
class Series:
    """The points with one fingerprint. A different one begins another series."""

    commits: list[Commit]  # one for each point
    contexts: list[dict[str, str]]  # of each point
    rows: list[str]
    # us, [median or end of its interval, row, point]; NaN: not measured, or null GPU
    times: Floats
    # log times in which to look for changes, [which, row, point]; NaN: too few, or none
    levels: Floats
    noise: Floats  # of the levels at each point, relative to others, [which, point]
    exact: list[dict[str, list[Row]]]  # of each point, by row name
    failures: list[list[Failure]]  # of each point
    newest: dict[str, Entry]  # with each row

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.contexts[-1])

    @property
    def system(self) -> str:
        """A description of the system for people."""
        known = defaultdict(lambda: "unknown", self.contexts[-1])
        return f"{known['device']}, torch {known['torch']}, {known['threads']} threads"

    @property
    def size(self) -> tuple[str, str]:
        """The numbers of commits and of rows, in words."""
        return plural(len(self.commits), "commit"), plural(len(self.rows), "row")

    def points(self, row: int) -> NDArray[np.int64]:
        """Returns the points that have a time of the row."""
        return np.flatnonzero(np.isfinite(self.times[0, row]))

    def comparable(self, row: int) -> NDArray[np.int64]:
        """Returns the points that have enough processes of the row for a suspicion."""
        return np.flatnonzero(np.isfinite(self.levels[0, row]))

    @property
    def too_few(self) -> int:
        """The number of points that have too few processes of a row."""
        missing = np.isfinite(self.times[0]) & ~np.isfinite(self.levels[0])
        return int(missing.any(axis=0).sum())

    def time(self, row: int, point: int) -> tuple[float, float, float]:
        """Returns the median and the ends of its interval, in us."""
        median, low, high = self.times[:, row, point].tolist()
        return median, low, high


def _pooled(groups: Sequence[list[Entry]], places: Mapping[str, int]) -> Floats:
    """Returns the times of all processes, [row, point, process]; NaN for none. `groups`
    are the results of each point."""
    counts = [sum(entry.times.shape[1] for entry in group) for group in groups]
    found = np.full((len(places), len(groups), max(counts)), np.nan)
    for point, group in enumerate(groups):
        first = 0
        for entry in group:
            rows = [places[row] for row in entry.rows]
            last = first + entry.times.shape[1]
            found[rows, point, first:last] = entry.times
            first = last
    return np.where(found > 0, found, np.nan)


def _ends(times: Floats) -> Floats:
    """Returns the median over processes and the ends of its 95 % interval, or with
    fewer than 6 processes the ends of their range, which is only a hint: [which, row,
    point]."""
    ordered = np.sort(times)  # NaN last
    counts = np.isfinite(ordered).sum(axis=-1)
    ranks = [interval_rank(count, 0.05) or 1 for count in range(times.shape[-1] + 1)]
    low, last = np.array(ranks)[counts] - 1, np.maximum(counts - 1, 0)
    places = np.stack([last // 2, (last + 1) // 2, low, np.maximum(last - low, 0)], -1)
    one, two, least, most = np.moveaxis(np.take_along_axis(ordered, places, -1), -1, 0)
    return np.stack([(one + two) / 2, least, most])


def _series(entries: Sequence[Entry], line: Sequence[Commit]) -> Series:
    by_commit = grouped(entries, attrgetter("revision"))
    commits = [commit for commit in line if commit.revision in by_commit]
    groups = [by_commit[commit.revision] for commit in commits]
    names = (row for group in groups for entry in group for row in entry.rows)
    places = {row: place for place, row in enumerate(dict.fromkeys(names))}
    times = _pooled(groups, places)
    contexts = [group[-1].context for group in groups]
    exact = [
        grouped((row for entry in group for row in entry.exact), attrgetter("name"))
        for group in groups
    ]
    levels, noise = levels_of(np.log(times))
    levels[:, np.isfinite(times).sum(axis=-1) < FEWEST] = np.nan
    found = _ends(times), levels, noise
    failures = [[one for entry in group for one in entry.failures] for group in groups]
    newest = {row: entry for entry in entries for row in entry.rows}
    return Series(commits, contexts, list(places), *found, exact, failures, newest)


def series_of(entries: Sequence[Entry], line: Sequence[Commit]) -> list[Series]:
    """Makes a series for each fingerprint from commits on the line, last measured last.
    `entries` are ordered by start time."""
    known = {commit.revision for commit in line}
    on_line = [entry for entry in entries if entry.revision in known]
    last_first = grouped(reversed(on_line), lambda entry: fingerprint(entry.context))
    return [_series(group[::-1], line) for group in reversed(last_first.values())]
