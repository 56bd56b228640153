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


def _labelled(results: Sequence[Result]) -> dict[str, Result]:
    """Keys the results by their revisions; a repeated one gets a number."""
    seen: Counter[str] = Counter()
    found = {}
    for result in results:
        label = result.revision(DIGITS)
        seen[label] += 1
        found[label if seen[label] == 1 else f"{label} ({seen[label]})"] = result
    return found


def _names(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(name for result in results for name in result.names))


def _cells(result: Result) -> dict[str, str]:
    """Formats the time of each case, or states why there is none."""
    cells = dict.fromkeys((case.name for case in result.errors), "error")
    cells |= dict.fromkeys((case.name for case in result.skipped), "skipped")
    return cells | {row.name: text.time(row.time_us) for row in result.rows}


def _change(results: Sequence[Result], name: str) -> str:
    """Formats the ratio of the last time to the first, among files with the row."""
    rows = [one.by_name[name] for one in results if name in one.by_name]
    if len(rows) < 2 or not rows[0].time_us > 0:
        return "-"
    return text.significant(rows[-1].time_us / rows[0].time_us)


def table(results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """Makes headings and lines: each row's time in each file, and last / first."""
    columns = [_cells(result) for result in results]
    lines = [
        [name, *(cells.get(name, "-") for cells in columns), _change(results, name)]
        for name in _names(results)
    ]
    return ["case", *_labelled(results), "last / first"], lines


@dataclass(frozen=True)
class Runs:
    """The files with any row, and the rows that all of them have."""

    labels: list[str]
    ratios: dict[str, list[float]]  # of the times to the first file's
    left_out: str  # how many rows and files have no ratio; "" if there are none


def collect(results: Sequence[Result]) -> Runs:
    files = {label: one for label, one in _labelled(results).items() if one.rows}
    names = _names(results)
    times = {
        name: [one.by_name[name].time_us for one in files.values()]
        for name in names
        if files and all(name in one.by_name for one in files.values())
    }
    ratios = {
        name: [time / each[0] for time in each]
        for name, each in times.items()
        if min(each) > 0
    }
    counts = {
        f"of {len(names)} rows not in every file": len(names) - len(times),
        "without any time": len(times) - len(ratios),
        "files without any row": len(results) - len(files),
    }
    parts = [f"{count} {what}" for what, count in counts.items() if count]
    return Runs(list(files), ratios, f"left out: {', '.join(parts)}" if parts else "")


def _by_spread(ratios: Ratios) -> dict[str, Sequence[float]]:
    """Sorts by change, largest first, and puts the last ratio before each name."""
    order = sorted(ratios.items(), key=lambda item: -abs(math.log(item[1][-1])))
    return {f"x {values[-1]:.3f} {name}": values for name, values in order}


def _draw(title: str, said: str, runs: Runs, lines: Ratios) -> Figure:
    """Draws the first in color, the others in gray with one entry in the legend."""
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
    plane = Plane(
        Scale(-0.3, len(runs.labels) - 0.7),
        logarithmic([1.0, *(value for values in lines.values() for value in values)]),
        lambda place: runs.labels[round(place)],
        text.significant,
        "revision, by date" + (f" ({runs.left_out})" if runs.left_out else ""),
        range(len(runs.labels)),
        WIDE,
    )
    return draw_lines(title, said, plane, series)


def history(results: Sequence[Result]) -> list[Figure]:
    """Plots times of the common rows relative to the first file: the geometric mean of
    each experiment, and the rows that changed most."""
    runs = collect(results)
    ratios = runs.ratios
    if not ratios or len(runs.labels) < 2:
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
        f"Over {len(runs.labels)} files, relative to the first, the geometric mean of "
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
