# SPDX-License-Identifier: MIT
"""Plots as SVG, to embed in a page and in the colors of the page."""

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Formatter = Callable[[float], str]
Point = tuple[float, float]
HALF, WIDE = 374.0, 518.0  # points: two plots of width HALF fit side by side
SIZE = 10.0  # points, the font size
LINE = 17.0  # points, from bar to bar
DARK = 0.45  # luminance below which black text is illegible
_LEAST_SCALE = 0.68  # a plot scrolls instead of shrinking more: text stays legible
# Okabe and Ito's colors, which remain distinct for color-blind people. Black becomes
# the text color of the page, so that it is visible on a dark page, too.
BLACK = "#000000"
COLORS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#F0E442",
    BLACK,
)
GRID = "#e3e3e3"
# Thin lines and small points in yellow are invisible on white.
CLEAR_COLORS = (*(color for color in COLORS if color != "#F0E442"), "#777777")
# Colors of the page; a standalone plot uses the fallback.
_OF_PAGE = {
    COLORS[0]: f"var(--blue, {COLORS[0]})",
    BLACK: "currentColor",
    GRID: f"var(--grid, {GRID})",
}


@dataclass(frozen=True)
class Figure:
    title: str
    description: str  # alternative text: the content in a sentence
    svg: str  # for a page: flexible width, colors of the page
    size: tuple[float, float]  # points

    def document(self) -> str:
        """Returns a standalone SVG file: dark on white, in natural size."""
        width, height = self.size
        start, body = self.svg.split(">", 1)
        style = "color: #1f2328; fill: currentColor; font-family: system-ui, sans-serif"
        start = re.sub(r'style="[^"]*"', f'style="{style}"', start)
        start = start.replace("<svg", f'<svg width="{width:g}pt" height="{height:g}pt"')
        return f'{start}><rect width="100%" height="100%" fill="white"/>{body}'


def width_of(text: str) -> float:
    """Returns an upper bound on the text's width, in points."""
    return 0.6 * SIZE * len(text)


@dataclass(frozen=True)
class Scale:
    low: float
    high: float
    log: bool = False
    base: int = 10

    def at(self, value: float) -> float:
        """Returns a position: 0 at the low end, 1 at the high one."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, most: int) -> list[float]:
        """Returns a few round numbers."""
        found = self._log_ticks(most) if self.log else []
        found = found or self._steps(most)  # a short logarithmic scale may have none
        return [value for value in found if self.low <= value <= self.high * 1.0001]

    def _steps(self, most: int) -> list[float]:
        least = (self.high - self.low) / most
        unit = self.base ** math.floor(math.log(least, self.base))
        step = next(f * unit for f in (1, 2, 5, 10) if f * unit >= least * 0.999)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [place * step for place in range(first, last + 1)]

    def _log_ticks(self, most: int) -> list[float]:
        ends = (math.log(end, self.base) for end in (self.low, self.high))
        first, last = (math.floor(end) for end in ends)
        powers = range(first, last + 1)
        for within in ((1, 2, 5), (1, 3), (1,)) if self.base == 10 else ((1,),):
            ticks = [f * float(self.base) ** power for power in powers for f in within]
            inside = [tick for tick in ticks if self.low <= tick <= self.high]
            if len(inside) <= most:
                return inside
        return inside[:: math.ceil(len(inside) / most)]


class Canvas:
    """The elements of a plot, in points from the top left."""

    def __init__(self, title: str, width: float, least_height: float = 0.0) -> None:
        self.title, self.width, self.height = title, width, least_height
        self._parts: list[str] = []

    def _add(self, shape: str, color: str, more: str, name: str, inside: str) -> None:
        fill = _OF_PAGE.get(color, color)
        tag = f'<{shape} style="fill: {fill}{more}"'
        tag += f">{inside}</{shape.split()[0]}>" if inside else "/>"
        group = f'<g class="{html.escape(name)}">{tag}</g>'
        self._parts.append(group if name else tag)

    def text(
        self, x: float, y: float, text: str, anchor: str = "start", **look: str
    ) -> None:
        """Adds text with its middle at `y`; `look`: `color`, `weight`."""
        place = f'x="{x:.1f}" y="{y + SIZE * 0.35:.1f}" text-anchor="{anchor}"'
        shape = f'text {place} font-size="{SIZE:g}"'
        shape += f' font-weight="{look["weight"]}"' if "weight" in look else ""
        self._add(shape, look.get("color", BLACK), "", "", html.escape(text))

    def box(self, at: Point, size: Point, color: str, **more: str) -> None:
        """Adds a rectangle; `more` has `opacity`, or `name`, its class."""
        (x, y), (width, height) = at, size
        place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        opacity = f"; opacity: {more['opacity']}" if "opacity" in more else ""
        self._add(f"rect {place}", color, opacity, more.get("name", ""), "")

    def line(self, points: Sequence[Point], color: str, **more: str) -> None:
        """Adds a line; `more` has `width`, `dash`, `fill`, or `name`, its class."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        stroke = f"; stroke: {_OF_PAGE.get(color, color)}"
        stroke += f"; stroke-width: {more.get('width', '1.2')}"
        stroke += f"; stroke-dasharray: {more['dash']}" if "dash" in more else ""
        shape, fill = f'polyline points="{path}"', more.get("fill", "none")
        self._add(shape, fill, stroke, more.get("name", ""), "")

    def dot(self, x: float, y: float, color: str, **more: str) -> None:
        """Adds a dot; `title` is its tooltip, and `ring` draws only the edge."""
        shape = f'circle cx="{x:.1f}" cy="{y:.1f}" r="{more.get("radius", "3")}"'
        shown = _OF_PAGE.get(color, color)
        fill = "none" if "ring" in more else color
        stroke = f"; stroke: {shown}" if "ring" in more else ""
        title = more.get("title", "")
        inside = f"<title>{html.escape(title)}</title>" if title else ""
        self._add(shape, fill, stroke, more.get("name", ""), inside)

    def end(self, foot: float, legend: Mapping[str, str], gap: float) -> None:
        """Ends the canvas with a legend `gap` below the foot of the plot: names with
        their colors, in lines from left to right."""
        x, lines = 0.0, 0
        for name, color in legend.items():
            needed = width_of(name) + 28
            if not lines or x + needed > self.width:
                x, lines = 0.0, lines + 1
            y = foot + SIZE / 2 + gap + (lines - 1) * LINE
            self.box((x, y - 4), (12, 8), color)
            self.text(x + 16, y, name)
            x += needed
        below = lines * LINE + 6 if lines else 0
        self.height = max(self.height, foot + below + 4)

    def figure(self, description: str) -> Figure:
        width, height = self.width, self.height
        size = f"max-width: {width:g}pt; min-width: {width * _LEAST_SCALE:.0f}pt"
        label = html.escape(description)
        body = "\n".join(self._parts)
        svg = (
            f'<svg role="img" aria-label="{label}" style="width: 100%; height: auto; '
            f'{size}; fill: currentColor" viewBox="0 0 {width:g} {height:g}" '
            f'xmlns="http://www.w3.org/2000/svg">\n{body}\n</svg>\n'
        )
        return Figure(self.title, description, svg, (width, height))


def readable_on(color: str) -> str:
    """Returns white, or a black that a dark page does not turn into white."""
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < DARK else "#111111"
