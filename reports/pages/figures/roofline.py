# SPDX-License-Identifier: MIT
"""Roofline plots: the rates of all rows below the measured peak rates."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator

from reports.advice.rates import arithmetic
from reports.answers.comparing import listed
from reports.pages.plotting.bars import CLEAR_COLOURS, legend_below
from reports.pages.plotting.figure import PAPER, Figure, draw
from reports.pages.plotting.point_names import paint_names
from reports.pages.plotting.roofs import (
    Point,
    Roof,
    points_of,
    roofs_of,
    thinned,
)
from reports.results import text
from reports.results.rows import Result

MARKERS = "osD^vPX*"
COLUMNS = 3  # of the legend


def _by_experiment(points: Sequence[Point]) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        found[point.row.experiment].append(point)
    return found


def _limits(axes: Axes, roof: Roof, points: Sequence[Point]) -> None:
    """Sets the limits: all points, the ridge, and room for text above the roof."""
    xs = [*(point.intensity for point in points), roof.ridge]
    ys = [*(point.rate for point in points), roof.flops]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(min(xs) / 2, max(xs) * 4)
    axes.set_ylim(min(ys) / 3, max(ys) * 2)
    rates = FuncFormatter(lambda rate, _: text.rate(rate, "FLOP/s"))
    axes.yaxis.set_major_formatter(rates)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: text.significant(x)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(base=10, numticks=20))
    axes.minorticks_off()
    axes.set_xlabel("arithmetic intensity, FLOPs per byte")
    axes.set_ylabel("rate")


def _paint_roof(axes: Axes, roof: Roof, points: Sequence[Point]) -> None:
    left, right = axes.get_xlim()
    corners = [left, roof.ridge, right]
    roof_line = [roof.at(x) for x in corners]
    axes.plot(corners, roof_line, color="black", linewidth=1.4)[0].set_gid("roof")
    low = axes.get_ylim()[0]
    axes.plot([roof.ridge] * 2, [low, roof.flops], ":", color="black", linewidth=0.9)
    ridge = f"ridge: {text.significant(roof.ridge)} FLOP/B"
    style: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9}
    axes.annotate(ridge, (roof.ridge, low), xytext=(3, 4), **style).set_gid("ridge")
    flat = f"{text.rate(roof.flops, 'FLOP/s')}, {roof.precision} product"
    axes.annotate(flat, (right, roof.flops), xytext=(-2, 4), ha="right", **style)
    crowded = any(p.above and p.intensity < roof.ridge for p in points)
    start = max(left, low / roof.bytes) * (right / left) ** 0.02
    axes.annotate(
        f"{text.rate(roof.bytes, 'B/s')}, best of memory",
        (start, roof.at(start)),
        xytext=(0, 22 if crowded else 6),
        rotation=45,
        rotation_mode="anchor",
        transform_rotates_text=True,
        **style,
    )


def _paint_points(axes: Axes, groups: dict[str, list[Point]]) -> None:
    kept = thinned([point for group in groups.values() for point in group])
    for index, (experiment, points) in enumerate(groups.items()):
        look: dict[str, Any] = {
            "linestyle": "none",
            "marker": MARKERS[index % len(MARKERS)],
            "markersize": 5.5,
            "color": CLEAR_COLOURS[index % len(CLEAR_COLOURS)],
        }
        axes.plot([], [], label=f"{experiment} ({len(points)})", **look)
        for own, filling in ((True, "full"), (False, "none")):
            mine = [point for point in kept if point.row.experiment == experiment]
            drawn = [point for point in mine if point.own is own]
            if drawn:
                xs, ys = [p.intensity for p in drawn], [p.rate for p in drawn]
                (line,) = axes.plot(xs, ys, fillstyle=filling, **look)
                line.set_markeredgewidth(0.4 if own else 1)
                line.set_markeredgecolor(PAPER if own else look["color"])
                line.set_gid(f"points-{experiment}" + ("" if own else "-other"))


def _paint_exceptions(axes: Axes, roof: Roof, points: Sequence[Point]) -> None:
    """Rings around points above the roof, and a legend entry for other precisions."""
    above = [point for point in points if point.above]
    if above:
        rings = thinned(above)
        (line,) = axes.plot(
            [point.intensity for point in rings],
            [point.rate for point in rings],
            linestyle="none",
            marker="o",
            markersize=10,
            fillstyle="none",
            color="#c00000",
            label=f"above the measured roof ({len(above)})",
        )
        line.set_gid("above")
    others = sorted({arithmetic(point.row) for point in points if not point.own})
    if others:
        axes.plot(
            [],
            [],
            "o",
            fillstyle="none",
            color="#555555",
            label=f"hollow: {', '.join(others)}, of unmeasured peak",
        )


def _figure(roof: Roof, points: list[Point]) -> Figure:
    groups = _by_experiment(points)

    def paint(axes: Axes) -> None:
        _limits(axes, roof, points)
        _paint_roof(axes, roof, points)
        _paint_points(axes, groups)
        _paint_exceptions(axes, roof, points)
        legend_below(axes, COLUMNS)
        paint_names(axes, roof, groups)

    above = sum(point.above for point in points)
    raised = f"{listed(roof.raised_by)} raised it. " if roof.raised_by else ""
    description = (
        f"{len(points)} rows under a roof of {text.rate(roof.flops, 'FLOP/s')} and "
        f"{text.rate(roof.bytes, 'B/s')}, which meet at "
        f"{text.significant(roof.ridge)} FLOPs per byte; {above} are above it, as "
        f"can be where data stay in a cache. {raised}Cases of several ranks are left "
        "out."
    )
    size = (7.2, 4.4 + 0.22 * (len(groups) + 2) / COLUMNS)
    return draw(f"Roofline: {roof.precision}", description, paint, size)


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
