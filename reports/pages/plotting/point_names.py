# SPDX-License-Identifier: MIT
"""Writes names beside points where they cover nothing else."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from reports.pages.plotting.axes import canvas_of
from reports.pages.plotting.roofs import Point, Roof

MOST_NAMES = 8
# Possible offsets of a name from its point, in points, with the alignment.
BESIDE = (
    *((7, -3, "left"), (-7, -3, "right"), (0, 7, "center"), (0, -14, "center")),
    *((6, 5, "left"), (6, -11, "left"), (-6, 5, "right"), (-6, -11, "right")),
)


def _name(point: Point) -> str:
    """The parts of the name that differ within an experiment and precision."""
    words, numbers = [], {}
    for part in point.row.name.split("/")[1:]:
        key, colon, value = part.partition(":")
        if colon:
            numbers[key] = value
        elif key != point.roof.precision:
            words.append(key)
    size = numbers.get("seq") or next(iter(numbers.values()), "")
    return " ".join([*words, f"T {size}" if "seq" in numbers else size]).strip()


def _named(groups: dict[str, list[Point]]) -> list[Point]:
    """The fastest row of each experiment, then the row farthest below the roof."""
    fastest = [max(points, key=lambda p: p.rate) for points in groups.values()]
    worst = [
        min(points, key=lambda p: p.rate / p.roof.at(p.intensity))
        for points in groups.values()
    ]
    by_name = {(p.row.experiment, _name(p)): p for p in [*worst, *fastest]}
    wanted = {id(point) for point in by_name.values()}
    once = {id(point): point for point in [*fastest, *worst]}
    return [point for key, point in once.items() if key in wanted]


def _covered(axes: Axes, roof: Roof, points: Sequence[Point]) -> list[Any]:
    """The positions of points and roof on the canvas, which no name may cover."""
    places = [(point.intensity, point.rate) for point in points]
    left, right = axes.get_xlim()
    across = [left * (right / left) ** (step / 120) for step in range(121)]
    places += [(x, roof.at(x)) for x in across]
    return list(axes.transData.transform(places))


def paint_names(axes: Axes, roof: Roof, groups: dict[str, list[Point]]) -> None:
    """Names up to MOST_NAMES points where there is room."""
    # Positions are final only after the layout.
    canvas_of(axes).draw_without_rendering()
    covered = _covered(axes, roof, [p for group in groups.values() for p in group])
    boxes = [label.get_window_extent() for label in axes.texts]
    first = len(boxes)
    for point in _named(groups):
        if len(boxes) - first < MOST_NAMES:
            boxes += _write(axes, point, covered, boxes)


def _write(
    axes: Axes, point: Point, covered: list[Any], boxes: list[Bbox]
) -> list[Bbox]:
    """Writes the name of a point at the first free place; returns its box, if any."""
    for dx, dy, side in BESIDE:
        label = axes.annotate(
            _name(point),
            (point.intensity, point.rate),
            xytext=(dx, dy),
            textcoords="offset points",
            ha=side,
            fontsize=8,
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
