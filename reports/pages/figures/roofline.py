# SPDX-License-Identifier: MIT
"""Roofline plots: the rates of all rows under the measured peak rates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

from reports.advice.run import highest
from reports.answers.shapes import arithmetic
from reports.pages.plotting.canvas import BLACK, CLEAR_COLORS, WIDE, Canvas, Figure
from reports.pages.plotting.lines import Plane, frame, logarithmic
from reports.results import text
from reports.results.records import shown
from reports.results.rows import TIME, NotAResult, Result, Row, grouped

ABOVE = 1.02  # times the roof; less is noise
# The program's text for a row above every peak (derived_metrics.cc).
_RAISES = "later rows are compared with this one"
GRAINS = (18, 12, 8, 5, 3)  # distinguishable points per decade, finest first
MOST_POINTS = 400  # in one figure


@dataclass(frozen=True)
class Roof:
    precision: str
    flops: float  # per second, of the fastest matrix product
    bytes: float  # per second, of the fastest pass over memory
    raised_by: list[str]  # rows above all peaks

    @property
    def ridge(self) -> float:
        """The FLOPs per byte above which the limit is arithmetic."""
        return self.flops / self.bytes

    def at(self, intensity: float) -> float:
        return min(self.flops, intensity * self.bytes)


@dataclass(frozen=True)
class Point:
    row: Row
    intensity: float  # FLOPs per byte
    rate: float  # FLOPs per second
    roof: Roof
    own: bool  # whether the roof is for the row's precision

    @property
    def above(self) -> bool:
        # The memory limit is the same for all precisions.
        memory = self.intensity * self.roof.bytes
        limit = self.roof.at(self.intensity) if self.own else memory
        return self.rate > ABOVE * limit


def _raising(result: Result, peak: str) -> list[Row]:
    """Returns the rows that are faster than every earlier peak of this kind."""
    return [
        row
        for row in result.rows
        if row.findings.get("above_peak", "").endswith(f"{peak}: {_RAISES}")
    ]


def _moved_per_second(result: Result, row: Row) -> float:
    """Returns bytes per second, minus the bytes that the cache may hold."""
    held = result.context.get("last_level_cache_bytes", "0")
    if not held.isdecimal():
        raise NotAResult(f"last_level_cache_bytes is {shown(held)}; allowed: a number")
    least_us = min(row.each.get(TIME, (row.time_us,)))
    return max(row["bytes"] - float(held), 0) / least_us * 1e6


def roofs_of(result: Result) -> dict[str, Roof]:
    peaks = result.of("peak")
    passes, products = _raising(result, "pass over memory"), _raising(result, "product")
    moved = (row for row in peaks if not row.get("flops_per_second"))
    memory = highest(moved, "bytes_per_second")
    if not memory:
        return {}
    memory = max([memory, *(_moved_per_second(result, row) for row in passes)])
    fast = (row for row in (*peaks, *products) if row.get("flops_per_second"))
    return {
        name: Roof(
            name,
            highest(rows, "flops_per_second"),
            memory,
            [row.name for row in (*passes, *products) if row in passes or row in rows],
        )
        for name, rows in grouped(fast, arithmetic).items()
    }


def points_of(result: Result, roofs: dict[str, Roof]) -> list[Point]:
    """Returns the rows with FLOPs and bytes, except distributed ones: their ranks share
    a device or use several, so the peaks of one device do not apply."""
    points = []
    for row in result.rows:
        flops, size = row.get("flops"), row.get("bytes")
        rate, precision = row.get("flops_per_second"), arithmetic(row)
        if not (flops and size and rate) or "ranks" in row.counters:
            continue
        roof = roofs.get(precision) or next(iter(roofs.values()))
        points.append(Point(row, flops / size, rate, roof, precision in roofs))
    return points


def thinned(points: Sequence[Point]) -> list[Point]:
    """Selects up to MOST_POINTS points from the whole plane, if possible: one of
    several points of an experiment that would overlap."""
    kept: dict[tuple[object, ...], Point] = {}
    for grain in GRAINS:
        kept = {
            (
                *(point.row.experiment, point.own, point.above),
                round(grain * math.log10(point.intensity)),
                round(grain * math.log10(point.rate)),
            ): point
            for point in points
        }
        if len(kept) <= MOST_POINTS:
            break
    return list(kept.values())


_ABOVE, _HOLLOW = "#c00000", "#555555"


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
    canvas: Canvas, plane: Plane, points: Sequence[Point], colors: dict[str, str]
) -> None:
    """Draws points, or rings for other precisions; a point's tooltip is its row."""
    for point in thinned(points):
        x, y = plane.place((point.intensity, point.rate))
        name = point.row.experiment
        title = f"{point.row.name}: {text.rate(point.rate, 'FLOP/s')}"
        look = {} if point.own else {"ring": "1"}
        group = f"points-{name}" + ("" if point.own else "-other")
        canvas.dot(x, y, colors[name], title=title, name=group, **look)
        if point.above:
            canvas.dot(x, y, _ABOVE, ring="1", radius="5.5", name="above")


def _figure(roof: Roof, points: list[Point]) -> Figure:
    groups = grouped(points, lambda point: point.row.experiment)
    colors = dict(zip(groups, cycle(CLEAR_COLORS)))
    legend = {f"{name} ({len(own)})": colors[name] for name, own in groups.items()}
    above = sum(point.above for point in points)
    if above:
        legend[f"above the measured roof ({above})"] = _ABOVE
    others = sorted({arithmetic(point.row) for point in points if not point.own})
    if others:
        legend[f"hollow: {', '.join(others)}, of unmeasured peak"] = _HOLLOW
    plane = _plane(roof, points)
    canvas = frame(f"Roofline: {roof.precision}", plane, legend)
    _paint_roof(canvas, plane, roof)
    _paint_points(canvas, plane, points, colors)
    raised = f"{text.listed(roof.raised_by)} raised it. " if roof.raised_by else ""
    return canvas.figure(
        f"{len(points)} rows under a roof of {text.rate(roof.flops, 'FLOP/s')} and "
        f"{text.rate(roof.bytes, 'B/s')}, which meet at "
        f"{text.significant(roof.ridge)} FLOPs per byte; {above} are above it, as "
        f"can be where data stay in a cache. {raised}Cases of several ranks are left "
        "out."
    )


def roofline(result: Result) -> list[Figure]:
    """Draws a figure for each precision with a measured peak; the first one also shows
    the rows of all other precisions."""
    roofs = roofs_of(result)
    points = points_of(result, roofs) if roofs else []
    members = grouped(points, lambda point: point.roof.precision)
    return [_figure(roofs[name], members[name]) for name in roofs if name in members]
