# SPDX-License-Identifier: MIT
"""Horizontal bars divided into parts, in groups, with intervals, marks and values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from reports.pages.plotting.canvas import (
    BLACK,
    GRID,
    HALF,
    LINE,
    WIDE,
    Canvas,
    Figure,
    Formatter,
    Scale,
    readable_on,
    width_of,
)

LEAST_HEIGHT = 86.0
_LONG = 0.4  # fraction of the width; longer labels need a wider plot
_WIDEST = 1.0  # relative half-width of an interval; wider ones are cut off


@dataclass(frozen=True)
class Bar:
    label: str
    parts: Mapping[str, float]  # lengths from left to right
    value: str = ""  # text to the right of the bar
    group: str = ""  # heading above the bars of one group
    interval: tuple[float, float] | None = None  # ends of the length's interval
    mark: float | None = None  # e.g. the measured length

    @property
    def length(self) -> float:
        return sum(self.parts.values())

    @property
    def end(self) -> float:
        """The right end of the bar, its interval and its mark."""
        _, high = self.interval or (0, self.length)
        return max(min(high, self.length * (1 + _WIDEST)), self.mark or 0.0)


@dataclass(frozen=True)
class Look:
    """The common style of all bars."""

    formatted: Formatter  # for the horizontal axis
    inside: Formatter | None = None  # for numbers in parts that are wide enough
    binary: bool = False  # ticks at powers of two
    log: bool = False  # a logarithmic axis, with a dot instead of a bar
    line: str = ""  # name of the line at 1; "" for no line
    label: str = ""  # of the horizontal axis
    width: float = HALF
    colors: Mapping[str, str] = field(default_factory=dict)  # by part, in order


def _scale(bars: Sequence[Bar], look: Look) -> Scale:
    high, base = max(bar.end for bar in bars) or 1.0, 2 if look.binary else 10
    if look.log:
        ends = (end for bar in bars for end in (bar.length, *(bar.interval or ())))
        low = min(end for end in ends if end > 0) * 0.7
        return Scale(max(low, high * 1e-9), high * 1.4, log=True, base=base)
    return Scale(0, max(high, 1.1 if look.line else 0) * 1.02, base=base)


def draw_bars(title: str, said: str, bars: Sequence[Bar], look: Look) -> Figure:
    drawn = {part for bar in bars for part, length in bar.parts.items() if length > 0}
    legend = {part: color for part, color in look.colors.items() if part in drawn}
    legend = legend if len(legend) > 1 or look.line else {}
    legend |= {look.line: BLACK} if look.line else {}
    names = max(width_of(bar.label) for bar in bars)
    width = max(WIDE, WIDE / 2 + names) if names > HALF * _LONG else look.width
    rows = len(bars) + len({bar.group for bar in bars if bar.group})
    bottom = rows * LINE + 4
    canvas = Canvas(title, width, LEAST_HEIGHT)
    left = names + 8
    right = width - max(width_of(bar.value) for bar in bars) - 10
    scale = _scale(bars, look)
    widest = max(width_of(look.formatted(tick)) for tick in scale.ticks(5))

    def across(value: float) -> float:
        inside = min(max(value, scale.low), scale.high)
        return left + scale.at(inside) * (right - left)

    for tick in scale.ticks(max(2, int((right - left) / (widest + 10)))):
        x = across(tick)
        canvas.line([(x, 2), (x, bottom)], GRID, width="0.8")
        shown = "0" if tick == 0 else look.formatted(tick)
        canvas.text(x, bottom + 9, shown, "middle")
    if look.label:
        canvas.text((left + right) / 2, bottom + 24, look.label, "middle")
    _paint(canvas, bars, look, (left, right), across)
    if look.line:
        x = across(1)
        canvas.line([(x, 2), (x, bottom)], BLACK, width="0.9", dash="4 3")
    canvas.end(bottom + (30 if look.label else 16), legend, gap=6)
    return canvas.figure(said)


def _paint(
    canvas: Canvas,
    bars: Sequence[Bar],
    look: Look,
    ends: tuple[float, float],
    across: Callable[[float], float],
) -> None:
    left, right = ends
    y, group = 2.0, ""
    for place, bar in enumerate(bars):
        if bar.group and bar.group != group:
            canvas.text(0, y + LINE / 2, bar.group, weight="bold")
            y, group = y + LINE, bar.group
        middle, start = y + LINE / 2, 0.0
        canvas.text(left - 6, middle, bar.label, "end")
        for part, length in bar.parts.items():
            if length <= 0:
                continue
            color, name = look.colors[part], f"bar-{place}-{part.replace(' ', '-')}"
            if look.log:
                canvas.dot(across(length), middle, color, name=name)
            else:
                x, width = across(start), across(start + length) - across(start)
                canvas.box((x, y + 3), (width, LINE - 6), color, name=name)
                shown = look.inside(length) if look.inside else ""
                if shown and width > width_of(shown) + 4:
                    ink = readable_on(color)
                    canvas.text(x + width / 2, middle, shown, "middle", color=ink)
            start += length
        if bar.interval and bar.interval[0] < bar.interval[1]:
            xs = [across(end) for end in bar.interval]
            line = [(xs[0], middle), (xs[1], middle)]
            canvas.line(line, BLACK, width="1", name=f"interval-{place}")
        if bar.mark is not None:
            canvas.dot(across(bar.mark), middle, BLACK, name=f"mark-{place}")
        canvas.text(right + 6, middle, bar.value)
        y += LINE
