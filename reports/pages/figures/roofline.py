# SPDX-License-Identifier: MIT
"""Roofline plots: the rates of all rows below the measured peak rates."""

from collections import defaultdict
from collections.abc import Sequence

from reports.advice.run import arithmetic
from reports.answers.comparing import listed
from reports.pages.plotting.canvas import WIDE, Canvas, Figure
from reports.pages.plotting.lines import Plane, frame, logarithmic
from reports.pages.plotting.palette import BLACK, CLEAR_COLOURS
from reports.pages.plotting.roofs import Point, Roof, points_of, roofs_of, thinned
from reports.results import text
from reports.results.rows import Result

_ABOVE, _HOLLOW = "#c00000", "#555555"


def _by_experiment(points: Sequence[Point]) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        found[point.row.experiment].append(point)
    return found


def _plane(roof: Roof, points: Sequence[Point]) -> Plane:
    return Plane(
        logarithmic([*(point.intensity for point in points), roof.ridge]),
        logarithmic([*(point.rate for point in points), roof.flops * 2]),
        text.significant,
        lambda rate: text.rate(rate, "FLOP/s"),
        "arithmetic intensity, FLOPs per byte",
        width=WIDE,
        height=290.0,
    )


def _paint_roof(canvas: Canvas, plane: Plane, roof: Roof) -> None:
    low, high = plane.x.low, plane.x.high
    start = max(low, plane.y.low / roof.bytes)
    corners = [(x, roof.at(x)) for x in (start, roof.ridge, high)]
    canvas.line([plane.place(c) for c in corners], BLACK, width="1.4", name="roof")
    foot = roof.ridge, plane.y.low
    ends = [plane.place(end) for end in (foot, (roof.ridge, roof.flops))]
    canvas.line(ends, BLACK, width="0.9", dash="2 2")
    (x, bottom), (right, top) = plane.place(foot), plane.place((high, roof.flops))
    canvas.text(x + 4, bottom - 7, f"ridge: {text.significant(roof.ridge)} FLOP/B")
    product = f"{text.rate(roof.flops, 'FLOP/s')}, {roof.precision} product"
    canvas.text(right, top - 7, product, "end")
    memory = f"{text.rate(roof.bytes, 'B/s')}, best of memory"
    canvas.text(plane.left + 4, 12, f"{memory}: the slope")


def _paint_points(
    canvas: Canvas, plane: Plane, points: Sequence[Point], colours: dict[str, str]
) -> None:
    """Rings are of another precision; a pointer on a point shows its row."""
    for point in thinned(points):
        x, y = plane.place((point.intensity, point.rate))
        name = point.row.experiment
        title = f"{point.row.name}: {text.rate(point.rate, 'FLOP/s')}"
        look = {} if point.own else {"ring": "1"}
        group = f"points-{name}" + ("" if point.own else "-other")
        canvas.dot(x, y, colours[name], title=title, name=group, **look)
        if point.above:
            canvas.dot(x, y, _ABOVE, ring="1", radius="5.5", name="above")


def _figure(roof: Roof, points: list[Point]) -> Figure:
    groups = _by_experiment(points)
    colours = {
        name: CLEAR_COLOURS[place % len(CLEAR_COLOURS)]
        for place, name in enumerate(groups)
    }
    legend = {f"{name} ({len(own)})": colours[name] for name, own in groups.items()}
    above = sum(point.above for point in points)
    if above:
        legend[f"above the measured roof ({above})"] = _ABOVE
    others = sorted({arithmetic(point.row) for point in points if not point.own})
    if others:
        legend[f"hollow: {', '.join(others)}, of unmeasured peak"] = _HOLLOW
    plane = _plane(roof, points)
    canvas = frame(f"Roofline: {roof.precision}", plane, legend)
    _paint_roof(canvas, plane, roof)
    _paint_points(canvas, plane, points, colours)
    raised = f"{listed(roof.raised_by)} raised it. " if roof.raised_by else ""
    return canvas.figure(
        f"{len(points)} rows under a roof of {text.rate(roof.flops, 'FLOP/s')} and "
        f"{text.rate(roof.bytes, 'B/s')}, which meet at "
        f"{text.significant(roof.ridge)} FLOPs per byte; {above} are above it, as "
        f"can be where data stay in a cache. {raised}Cases of several ranks are left "
        "out."
    )


def roofline(result: Result) -> list[Figure]:
    """A figure for each precision with a measured peak; the first also holds the rows
    of all other precisions."""
    roofs = roofs_of(result)
    points = points_of(result, roofs) if roofs else []
    figures = []
    for roof in roofs.values():
        members = [point for point in points if point.roof is roof]
        if members:
            figures.append(_figure(roof, members))
    return figures
