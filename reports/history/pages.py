# SPDX-License-Identifier: MIT
"""Makes one self-contained HTML file of all series, with a plot for each row."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reports.history.commits import Commit
from reports.history.findings import Finding, Kind
from reports.history.series import Series
from reports.pages.plotting.canvas import COLORS, HALF, Figure, Scale
from reports.pages.plotting.lines import Plane, frame
from reports.pages.render import html_of
from reports.results import text

HEIGHT = 110.0  # points
_COLORS = {
    Kind.EXACT: COLORS[4],
    Kind.CONFIRMED: COLORS[3],
    Kind.IMPROVED: COLORS[2],
    Kind.SUSPECTED: COLORS[1],
}
_GREY, _BAND = "#999999", "rgb(120 150 190 / 0.25)"


def _plane(series: Series, row: int) -> Plane:
    points, last = series.points(row), len(series.commits) - 1
    _, low, high = series.times[:, row, points]
    low, high = low.min(), high.max()
    room = (high - low) * 0.08 or high * 0.01
    return Plane(
        x=Scale(-0.5, last + 0.5),
        y=Scale(float(low - room), float(high + room)),
        x_formatted=lambda point: series.commits[round(point)].short,
        y_formatted=lambda us: text.time(us, 4),
        x_ticks=sorted({0, last // 2, last}),
        width=HALF,
        height=HEIGHT,
    )


def _figure(series: Series, row: int, found: Sequence[Finding], plane: Plane) -> Figure:
    """Plots the medians, their intervals, and a line at each change."""
    canvas = frame(series.rows[row], plane, {})
    points = series.points(row).tolist()
    medians, lows, highs = (
        [plane.place((point, us[point])) for point in points]
        for us in series.times[:, row]
    )
    canvas.line([*lows, *highs[::-1]], "none", fill=_BAND)
    for each in found:
        x, _ = plane.place(((each.before + each.after) / 2, plane.y.high))
        dash = {"dash": "3 3"} if each.kind in (Kind.MACHINE, Kind.SUSPECTED) else {}
        color = _COLORS.get(each.kind, _GREY)
        canvas.line([(x, 6), (x, plane.bottom)], color, **dash)
    canvas.line(medians, COLORS[0])
    first, last = (text.time(series.time(row, points[end])[0]) for end in (0, -1))
    words = [f"{text.plural(len(points), 'point')}: {first} at first, {last} at last"]
    words += [f"{each.kind}: {each.words}" for each in found if each.row]
    return canvas.figure("; ".join(words) + ".")


def _points(series: Series, row: int, plane: Plane) -> str:
    """Returns the places of the points and their texts for the pointer, as JSON."""
    (first, _), (second, _) = (plane.place((at, plane.y.high)) for at in (0, 1))
    points, words = series.points(row).tolist(), []
    for point in points:
        median, *ends = (text.time(us, 4) for us in series.time(row, point))
        interval = "" if ends == [median] * 2 else f" ({' to '.join(ends)})"
        words.append(f"{median}{interval}")
    where = {"first": round(first, 2), "step": round(second - first, 4)}
    return json.dumps({**where, "points": points, "words": words})


def part(
    series: Series, found: Sequence[Finding], line: Sequence[Commit]
) -> dict[str, Any]:
    """Returns what the template shows of a series."""
    # By experiment: figures, their points, and whether the row changed.
    experiments: dict[str, list[tuple[Figure, str, bool]]] = {}
    for row, name in enumerate(series.rows):
        if len(series.points(row)):
            own = [each for each in found if each.row in (name, "")]
            changed = any(each.kind not in (Kind.MACHINE, Kind.REFUTED) for each in own)
            plane = _plane(series, row)
            figure = _figure(series, row, own, plane)
            plots = experiments.setdefault(name.partition("/")[0], [])
            plots.append((figure, _points(series, row, plane), changed))
    return {
        "series": series,
        "findings": [(each, each.commits(series, line)) for each in found],
        "experiments": experiments,
        "commits": [(c.revision, c.date, c.subject) for c in series.commits],
    }


def html(parts: Sequence[dict[str, Any]], address: str) -> str:
    """Renders the page; links to commits begin with `address`, "" makes none."""
    here = Path(__file__).resolve().parent
    return html_of("history.html.jinja", here, parts=parts, address=address)
