# SPDX-License-Identifier: MIT
"""Horizontal bars divided into parts, in groups, with marks and values beside them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from reports.pages.plotting.axes import Formatter, canvas_of
from reports.pages.plotting.figure import COLOURS, PAPER

# Thin lines and small points in yellow are invisible on white.
CLEAR_COLOURS = (*(colour for colour in COLOURS if colour != "#F0E442"), "#777777")
INCHES_PER_LINE = 0.25
INCHES_AROUND = 0.6  # the horizontal axis
LEAST_WRITTEN = 0.08  # of the axis; narrower parts have no room for a number
DARK = 0.45  # luminance below which black text is illegible


@dataclass(frozen=True)
class Look:
    """The style of one part of a bar."""

    colour: str
    hatch: str = ""


@dataclass(frozen=True)
class Bar:
    label: str
    parts: dict[str, float]  # lengths from left to right
    value: str = ""  # text to the right of the bar
    mark: float | None = None  # position of a mark, e.g. the predicted length
    group: str = ""  # heading above the bars of one group


@dataclass(frozen=True)
class Scale:
    """The horizontal axis."""

    formatter: Formatter
    binary: bool = False  # ticks at powers of two
    inside: Formatter | None = None  # for the numbers inside wide parts
    mark_name: str = ""  # of the marks, for the legend


def height_of(bars: Sequence[Bar], entries: int, columns: int = 3) -> float:
    """The height in inches of a plot with these bars and a legend below."""
    lines = len(bars) + len({bar.group for bar in bars if bar.group})
    return (lines + math.ceil(entries / columns)) * INCHES_PER_LINE + INCHES_AROUND


def legend_below(axes: Axes, columns: int = 3, order: Sequence[str] = ()) -> None:
    """Puts one legend for all axes of the figure below them."""
    canvas = canvas_of(axes)
    entries: dict[str, Any] = {}
    for part in canvas.axes:
        handles, labels = part.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    names = [name for name in order if name in entries]
    names += [name for name in entries if name not in names]
    if not names:
        return
    canvas.legend(
        [entries[name] for name in names],
        names,
        loc="outside lower center",
        ncols=columns,
        handlelength=1.5,
        columnspacing=1.2,
    )


def draw_bars(
    axes: Axes, bars: Sequence[Bar], looks: dict[str, Look], scale: Scale
) -> None:
    """Draws the bars from top to bottom and their axis, without a legend."""
    heights = _heights(axes, bars)
    lengths = [sum(bar.parts.values()) for bar in bars]
    marks = [bar.mark for bar in bars if bar.mark is not None]
    end = max(lengths + marks) * 1.02
    axes.set_xlim(0, end or 1)
    _ticks(axes, end, scale)
    named: set[str] = set()
    for index, (bar, height) in enumerate(zip(bars, heights, strict=True)):
        left = 0.0
        for part, width in bar.parts.items():
            if width <= 0:
                continue
            _block(axes, (left, width, height), looks[part], part, part not in named)
            axes.patches[-1].set_gid(f"bar-{index}-{part.replace(' ', '-')}")
            named.add(part)
            if scale.inside and width >= LEAST_WRITTEN * end:
                _write(axes, left + width / 2, height, scale.inside(width), looks[part])
            left += width
        _beside(axes, bar, height)
    _mark(axes, bars, heights, scale.mark_name)


def _block(
    axes: Axes, place: tuple[float, float, float], look: Look, part: str, first: bool
) -> None:
    left, width, height = place
    axes.barh(
        height,
        width,
        left=left,
        height=0.72,
        color=look.colour,
        hatch=look.hatch or None,
        edgecolor=PAPER,
        linewidth=0.6,
        label=part if first else None,
    )


def _heights(axes: Axes, bars: Sequence[Bar]) -> list[float]:
    """Labels bars and groups on the vertical axis; returns the position of each bar."""
    heights: list[float] = []
    ticks: list[tuple[float, str, bool]] = []
    group = ""
    for bar in bars:
        if bar.group and bar.group != group:
            ticks.append((float(len(ticks)), bar.group, True))
            group = bar.group
        heights.append(float(len(ticks)))
        ticks.append((float(len(ticks)), bar.label, False))
    axes.set_yticks([tick[0] for tick in ticks], [tick[1] for tick in ticks])
    for label, (_, _, is_group) in zip(axes.get_yticklabels(), ticks, strict=True):
        label.set_fontweight("bold" if is_group else "normal")
    axes.set_ylim(len(ticks) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    return heights


def _ticks(axes: Axes, end: float, scale: Scale) -> None:
    if scale.binary and end > 0:
        step = 2.0 ** math.ceil(math.log2(end / 5))
        axes.xaxis.set_major_locator(MultipleLocator(step))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
    formatter = FuncFormatter(lambda x, _: scale.formatter(x) if x else "0")
    axes.xaxis.set_major_formatter(formatter)


def _write(axes: Axes, x: float, y: float, what: str, look: Look) -> None:
    red, green, blue = to_rgb(look.colour)
    luminance = 0.299 * red + 0.587 * green + 0.114 * blue
    # Not pure black: a dark page turns it into white, and the bar keeps its colour.
    colour = "white" if luminance < DARK else "#111111"
    axes.text(x, y, what, ha="center", va="center", fontsize=8, color=colour)


def _beside(axes: Axes, bar: Bar, height: float) -> None:
    place = axes.get_yaxis_transform()
    axes.text(1.02, height, bar.value, transform=place, va="center", fontsize=9)


def _mark(axes: Axes, bars: Sequence[Bar], heights: Sequence[float], name: str) -> None:
    placed = [
        (bar.mark, height)
        for bar, height in zip(bars, heights, strict=True)
        if bar.mark is not None
    ]
    if not placed:
        return
    (line,) = axes.plot(
        [mark for mark, _ in placed],
        [height for _, height in placed],
        linestyle="none",
        marker="D",
        markersize=5,
        color="black",
        markeredgecolor=PAPER,
        label=name,
    )
    line.set_gid("marks")
