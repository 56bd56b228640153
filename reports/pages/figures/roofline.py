# SPDX-License-Identifier: MIT
"""What was reached, against what the same run measured to be the most."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator
from matplotlib.transforms import Bbox

from reports import text
from reports.pages.figure import Figure, draw
from reports.pages.figures.bars import CLEAR_COLOURS, below
from reports.rows import Result, Row

MARKERS = "osD^vPX*"
ABOVE = 1.02  # of the roof: less is noise
GRAINS = (18, 12, 8, 5)  # points per decade; more than the first cannot be told apart
MOST_POINTS = 400  # in one figure
COLUMNS = 3  # of the legend
MOST_NAMES = 8
# Where a name may stand beside its point, in points, and its alignment there.
BESIDE = (
    *((7, -3, "left"), (-7, -3, "right"), (0, 7, "center"), (0, -14, "center")),
    *((6, 5, "left"), (6, -11, "left"), (-6, 5, "right"), (-6, -11, "right")),
)


@dataclass(frozen=True)
class Roof:
    precision: str
    flops: float  # per second, of the best matrix product
    bytes: float  # per second, of the best copy or update

    @property
    def ridge(self) -> float:
        """FLOPs per byte from which on memory is no longer the limit."""
        return self.flops / self.bytes

    def at(self, intensity: float) -> float:
        return min(self.flops, intensity * self.bytes)


@dataclass(frozen=True)
class Point:
    row: Row
    intensity: float  # FLOPs per byte
    rate: float  # FLOPs per second
    roof: Roof
    own: bool  # whether the roof is that of the row's precision

    @property
    def above(self) -> bool:
        # Another precision's roof is not its own, but memory is the same.
        limit = self.roof.at(self.intensity) if self.own else float("inf")
        memory = self.intensity * self.roof.bytes
        return self.rate > ABOVE * min(limit, memory)


def _arithmetic(row: Row) -> str:
    """Autocast's products are bf16 products."""
    return row.words.get("precision", "fp32").removesuffix("_autocast")


def _roofs(result: Result) -> dict[str, Roof]:
    peaks = result.of("peak")
    rates = [
        row["bytes_per_second"]
        for row in peaks
        if row.get("bytes_per_second") and not row.get("flops_per_second")
    ]
    best: dict[str, float] = {}
    for row in peaks:
        flops, precision = row.get("flops_per_second"), _arithmetic(row)
        if flops:
            best[precision] = max(flops, best.get(precision, 0))
    if not rates:
        return {}
    return {name: Roof(name, flops, max(rates)) for name, flops in best.items()}


def _points(result: Result, roofs: dict[str, Roof]) -> list[Point]:
    """Rows that have both rates. Ranks are left out: they share a device, or are
    several, so that the peaks are not theirs."""
    points = []
    for row in result.rows:
        flops, size = row.get("flops"), row.get("bytes")
        rate, precision = row.get("flops_per_second"), _arithmetic(row)
        if not (flops and size and rate) or "ranks" in row.counters:
            continue
        roof = roofs.get(precision) or next(iter(roofs.values()))
        points.append(Point(row, flops / size, rate, roof, precision in roofs))
    return points


def _thinned(points: Sequence[Point], grain: int) -> list[Point]:
    """Of points of one experiment that would cover each other one."""
    kept = {
        (
            *(point.row.experiment, point.own, point.above),
            round(grain * math.log10(point.intensity)),
            round(grain * math.log10(point.rate)),
        ): point
        for point in points
    }
    return list(kept.values())


def _drawn(points: Sequence[Point]) -> list[Point]:
    """As many as the file can hold, from all over the plane."""
    thinnings = [_thinned(points, grain) for grain in GRAINS]
    few = (drawn for drawn in thinnings if len(drawn) <= MOST_POINTS)
    return next(few, thinnings[-1])


def _by_experiment(points: Sequence[Point]) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = defaultdict(list)
    for point in points:
        found[point.row.experiment].append(point)
    return found


def _name(point: Point) -> str:
    """The words that tell it from others of its experiment and precision."""
    words, numbers = [], {}
    for part in point.row.name.split("/")[1:]:
        key, colon, value = part.partition(":")
        if colon:
            numbers[key] = value
        elif key != point.roof.precision:
            words.append(key)
    size = numbers.get("seq") or next(iter(numbers.values()), "")
    return " ".join([*words, f"T {size}" if "seq" in numbers else size]).strip()


def _limits(axes: Axes, roof: Roof, points: Sequence[Point]) -> None:
    """All points, the ridge, and room above for what stands there."""
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
    kept = {"textcoords": "offset points", "fontsize": 9}
    axes.annotate(ridge, (roof.ridge, low), xytext=(3, 4), **kept).set_gid("ridge")
    flat = f"{text.rate(roof.flops, 'FLOP/s')}, {roof.precision} product"
    place = {"xytext": (-2, 4), "ha": "right"}
    axes.annotate(flat, (right, roof.flops), **place, **kept)
    crowded = any(p.above and p.intensity < roof.ridge for p in points)
    start = max(left, low / roof.bytes) * (right / left) ** 0.02
    axes.annotate(
        f"{text.rate(roof.bytes, 'B/s')}, best of memory",
        (start, roof.at(start)),
        xytext=(0, 22 if crowded else 6),
        rotation=45,
        rotation_mode="anchor",
        transform_rotates_text=True,
        **kept,
    )


def _paint_points(axes: Axes, groups: dict[str, list[Point]]) -> None:
    kept = _drawn([point for group in groups.values() for point in group])
    for index, (experiment, points) in enumerate(groups.items()):
        look = {
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
                line.set_markeredgecolor("white" if own else look["color"])
                line.set_gid(f"points-{experiment}" + ("" if own else "-other"))


def _paint_exceptions(axes: Axes, roof: Roof, points: Sequence[Point]) -> None:
    """Rings around what is above the roof; a word on other precisions."""
    above = [point for point in points if point.above]
    if above:
        rings = _drawn(above)
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
    others = sorted({_arithmetic(point.row) for point in points if not point.own})
    if others:
        axes.plot(
            [],
            [],
            "o",
            fillstyle="none",
            color="#555555",
            label=f"hollow: {', '.join(others)}, of unmeasured peak",
        )


def _named(groups: dict[str, list[Point]]) -> list[Point]:
    """Of each experiment the fastest row, then the one farthest below the roof."""
    fastest = [max(points, key=lambda p: p.rate) for points in groups.values()]
    worst = [
        min(points, key=lambda p: p.rate / p.roof.at(p.intensity))
        for points in groups.values()
    ]
    by_name = {(p.row.experiment, _name(p)): p for p in [*worst, *fastest]}
    wanted = {id(point) for point in by_name.values()}
    return [point for point in [*fastest, *worst] if id(point) in wanted]


def _covered(axes: Axes, roof: Roof, points: Sequence[Point]) -> list[Any]:
    """Places on the canvas that a name must not cover: points and the roof."""
    places = [(point.intensity, point.rate) for point in points]
    left, right = axes.get_xlim()
    across = [left * (right / left) ** (step / 120) for step in range(121)]
    places += [(x, roof.at(x)) for x in across]
    return list(axes.transData.transform(places))


def _paint_names(axes: Axes, roof: Roof, groups: dict[str, list[Point]]) -> None:
    """Names points as long as there is room beside them that covers nothing."""
    axes.figure.draw_without_rendering()  # places are known only when all else is laid out
    covered = _covered(axes, roof, [p for group in groups.values() for p in group])
    boxes = [label.get_window_extent() for label in axes.texts]
    first = len(boxes)
    for point in _named(groups):
        if len(boxes) - first < MOST_NAMES:
            boxes += _write(axes, point, covered, boxes)


def _write(
    axes: Axes, point: Point, covered: list[Any], boxes: list[Bbox]
) -> list[Bbox]:
    """Where it fits, if anywhere; and what it takes there."""
    for dx, dy, side in BESIDE:
        label = axes.annotate(
            _name(point),
            (point.intensity, point.rate),
            xytext=(dx, dy),
            textcoords="offset points",
            ha=side,
            fontsize=8,
            color="#333333",
        )
        box = label.get_window_extent()
        corners = (box.x0, box.y0), (box.x1, box.y1)
        inside = all(axes.bbox.contains(*corner) for corner in corners)
        free = not any(box.overlaps(other) for other in boxes)
        if inside and free and not any(box.padded(2).contains(*at) for at in covered):
            label.set_gid("name")
            return [box]
        label.remove()
    return []


def _figure(roof: Roof, points: list[Point]) -> Figure:
    groups = _by_experiment(points)

    def paint(axes: Axes) -> None:
        _limits(axes, roof, points)
        _paint_roof(axes, roof, points)
        _paint_points(axes, groups)
        _paint_exceptions(axes, roof, points)
        below(axes, COLUMNS)
        _paint_names(axes, roof, groups)

    above = sum(point.above for point in points)
    description = (
        f"{len(points)} rows under a roof of {text.rate(roof.flops, 'FLOP/s')} and "
        f"{text.rate(roof.bytes, 'B/s')}, which meet at "
        f"{text.significant(roof.ridge)} FLOPs per byte; {above} are above it, as "
        f"can be where data stay in a cache. Cases of several ranks are left out."
    )
    size = (7.2, 4.4 + 0.22 * (len(groups) + 2) / COLUMNS)
    return draw(f"Roofline: {roof.precision}", description, paint, size)


def roofline(result: Result) -> list[Figure]:
    """A figure for each precision whose peak the run measured. Rows of others are
    in the first one."""
    roofs = _roofs(result)
    points = _points(result, roofs) if roofs else []
    figures = []
    for roof in roofs.values():
        members = [point for point in points if point.roof is roof]
        if members:
            figures.append(_figure(roof, members))
    return figures
