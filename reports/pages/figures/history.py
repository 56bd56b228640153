# SPDX-License-Identifier: MIT
"""The times of one machine over revisions: a table and plots."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from statistics import fmean

from reports.pages.plotting.canvas import WIDE, Figure, Scale
from reports.pages.plotting.lines import Plane, Series, draw_lines, logarithmic
from reports.pages.plotting.palette import CLEAR_COLOURS
from reports.results import text
from reports.results.rows import Result

MOST_LINES = 8  # in color; further lines are gray
DIGITS = 7  # of a revision
Ratios = Mapping[str, Sequence[float]]  # relative to the first file


@dataclass(frozen=True)
class Runs:
    """Several results of one machine, in the order of their dates."""

    labels: list[str]  # the revision of each file
    times: dict[str, list[float | None]]  # us, of each row in each file
    missing: dict[str, list[str]]  # reason for a missing time, or ""

    @property
    def files(self) -> list[int]:
        """The places of the files with any row."""
        places = range(len(self.labels))
        return [i for i in places if any(t[i] is not None for t in self.times.values())]

    @property
    def common(self) -> dict[str, list[float]]:
        """The times of the rows that all these files have."""
        found = {n: [t[i] for i in self.files] for n, t in self.times.items()}
        return {
            name: [time for time in times if time is not None]
            for name, times in found.items()
            if times and None not in times
        }

    @property
    def ratios(self) -> dict[str, list[float]]:
        return {
            name: [time / times[0] for time in times]
            for name, times in self.common.items()
            if min(times) > 0
        }

    def what_is_left_out(self) -> str:
        """States how many rows and files have no ratio; "" if there are none."""
        common = len(self.common)
        counts = {
            f"of {len(self.times)} rows not in every file": len(self.times) - common,
            "without any time": common - len(self.ratios),
            "files without any row": len(self.labels) - len(self.files),
        }
        parts = [f"{count} {what}" for what, count in counts.items() if count]
        return f"left out: {', '.join(parts)}" if parts else ""


def collect(results: Sequence[Result]) -> Runs:
    seen: Counter[str] = Counter()
    labels = []
    for result in results:
        label = result.revision(DIGITS)
        seen[label] += 1
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    names = dict.fromkeys(name for result in results for name in result.names)
    measured = [{row.name: row.time_us for row in result.rows} for result in results]
    reasons = [
        dict.fromkeys((case.name for case in result.errors), "error")
        | dict.fromkeys((case.name for case in result.skipped), "skipped")
        for result in results
    ]
    return Runs(
        labels,
        {name: [times.get(name) for times in measured] for name in names},
        {name: [reason.get(name, "") for reason in reasons] for name in names},
    )


def _change(times: Sequence[float | None]) -> str:
    """Formats the ratio of the last time to the first, among files with the row."""
    present = [time for time in times if time is not None]
    if len(present) < 2 or not present[0] > 0:
        return "-"
    return text.significant(present[-1] / present[0])


def table(results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """Makes headings and lines: each row's time in each file, and last / first."""
    runs = collect(results)
    lines = []
    for name, times in runs.times.items():
        cells = [
            (reason or "-") if time is None else text.time(time)
            for time, reason in zip(times, runs.missing[name], strict=True)
        ]
        lines.append([name, *cells, _change(times)])
    return ["case", *runs.labels, "last / first"], lines


def _by_spread(ratios: Ratios) -> dict[str, Sequence[float]]:
    """Sorts by change, largest first, and puts the last ratio before each name."""
    order = sorted(ratios.items(), key=lambda item: -abs(math.log(item[1][-1])))
    return {f"x {values[-1]:.3f} {name}": values for name, values in order}


def _draw(title: str, said: str, runs: Runs, lines: Ratios) -> Figure:
    """Draws the first in color, the others in gray with one entry in the legend."""
    labels = [runs.labels[place] for place in runs.files]
    coloured, grey = list(lines)[:MOST_LINES], list(lines)[MOST_LINES:]
    series = {
        f" {name}" if place else f"{len(grey)} more": Series(
            "#bbbbbb", list(enumerate(lines[name]))
        )
        for place, name in enumerate(grey)
    }
    for place, (name, colour) in enumerate(zip(coloured, cycle(CLEAR_COLOURS))):
        points = list(enumerate(lines[name]))
        series[name] = Series(colour, points, points, name=f"line-{place}")
    left_out = runs.what_is_left_out()
    plane = Plane(
        Scale(-0.3, len(labels) - 0.7),
        logarithmic([1.0, *(value for values in lines.values() for value in values)]),
        lambda place: labels[round(place)],
        text.significant,
        "revision, by date" + (f" ({left_out})" if left_out else ""),
        range(len(labels)),
        WIDE,
    )
    return draw_lines(title, said, plane, series)


def history(results: Sequence[Result]) -> list[Figure]:
    """Plots times of the common rows relative to the first file: the geometric mean of
    each experiment, and the rows that changed most."""
    runs = collect(results)
    ratios = runs.ratios
    if not ratios or len(runs.files) < 2:
        return []
    groups: dict[str, list[Sequence[float]]] = defaultdict(list)
    for name, values in ratios.items():
        groups[name.partition("/")[0]].append(values)
    means = {
        f"{name} ({text.plural(len(rows), 'row')})": [
            math.exp(fmean(map(math.log, column))) for column in zip(*rows, strict=True)
        ]
        for name, rows in groups.items()
    }
    means_by_spread, rows_by_spread = _by_spread(means), _by_spread(ratios)
    moved = dict(list(rows_by_spread.items())[:MOST_LINES])
    experiments = (
        f"Over {len(runs.files)} files, relative to the first, the geometric mean of "
        f"each experiment's rows. At the last: {', '.join(means_by_spread)}."
    )
    most = (
        f"The {len(moved)} of {len(ratios)} rows that moved most from the first file "
        f"to the last: {', '.join(moved)}."
    )
    return [
        _draw("History: experiments", experiments, runs, means_by_spread),
        _draw("History: rows that moved most", most, runs, moved),
    ]
