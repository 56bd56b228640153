# SPDX-License-Identifier: MIT
"""Lines and points, on linear or logarithmic axes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from reports.pages.plotting.canvas import (
    GRID,
    HALF,
    LINE,
    Canvas,
    Figure,
    Formatter,
    Point,
    Scale,
    width_of,
)


@dataclass(frozen=True)
class Series:
    color: str
    line: Sequence[Point] = ()
    dots: Sequence[Point] = ()


@dataclass(frozen=True)
class Plane:
    """The axes of a plot."""

    x: Scale
    y: Scale
    x_formatted: Formatter
    y_formatted: Formatter
    x_label: str = ""
    x_ticks: Sequence[float] = ()  # empty: round numbers
    width: float = HALF
    height: float = 190.0  # without axis and legend

    @cached_property
    def left(self) -> float:
        """The width of the vertical axis with its numbers."""
        return 10 + max(width_of(self.y_formatted(tick)) for tick in self.y.ticks(6))

    @property
    def bottom(self) -> float:
        return self.height + 6

    def place(self, point: Point) -> Point:
        across = self.left + self.x.at(point[0]) * (self.width - self.left - 14)
        return across, 6 + (1 - self.y.at(point[1])) * self.height


def frame(title: str, plane: Plane, legend: Mapping[str, str]) -> Canvas:
    """Returns a canvas with the axes and the legend."""
    canvas = Canvas(title, plane.width)
    right = plane.width - 14
    ticks = list(plane.x_ticks) or plane.x.ticks(6)
    free = 0.0
    for tick in ticks:
        x, _ = plane.place((tick, plane.y.high))
        shown = plane.x_formatted(tick)
        canvas.line([(x, 6), (x, plane.bottom)], GRID, width="0.8")
        half = width_of(shown) / 2
        at = min(x, plane.width - half)
        if at - half > free:
            canvas.text(at, plane.bottom + 10, shown, "middle")
            free = at + half + 2
    for tick in plane.y.ticks(6):
        _, y = plane.place((plane.x.low, tick))
        canvas.line([(plane.left, y), (right, y)], GRID, width="0.8")
        canvas.text(plane.left - 5, y, plane.y_formatted(tick), "end")
    middle = (plane.left + right) / 2
    if plane.x_label:
        canvas.text(middle, plane.bottom + 24, plane.x_label, "middle")
    canvas.end(plane.bottom + (32 if plane.x_label else 18), legend, gap=LINE / 4)
    return canvas


def draw_lines(
    title: str, said: str, plane: Plane, series: Mapping[str, Series]
) -> Figure:
    """Draws series by name; a name that begins with a blank is not in the legend."""
    legend = {name: s.color for name, s in series.items() if not name.startswith(" ")}
    canvas = frame(title, plane, legend)
    for each in series.values():
        if each.line:
            points = [plane.place(point) for point in each.line]
            canvas.line(points, each.color)
        for point in each.dots:
            canvas.dot(*plane.place(point), each.color)
    return canvas.figure(said)


def logarithmic(values: Sequence[float], base: int = 10) -> Scale:
    """Returns a scale around these values, with some room."""
    low, high = min(values), max(values)
    room = max((high / low) ** 0.06, 1.05)
    return Scale(low / room, high * room, log=True, base=base)
