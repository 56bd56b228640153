# SPDX-License-Identifier: MIT
"""Lying bars, each divided into parts: room for names, and as many as there are."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

from reports.pages.plotting.figure import COLOURS, PAPER

# Yellow is no colour for a thin line or a small point on white.
CLEAR_COLOURS = (*(colour for colour in COLOURS if colour != "#F0E442"), "#777777")
INCHES_PER_LINE = 0.25
INCHES_AROUND = 0.6  # the horizontal axis
LEAST_WRITTEN = 0.06  # of the axis: narrower parts have no room for a number
DARK = 0.45  # luminance below which black cannot be read


@dataclass(frozen=True)
class Look:
    """How a part is drawn. Hatched is what takes no room of its own."""

    colour: str
    hatch: str = ""


@dataclass(frozen=True)
class Bar:
    label: str
    parts: dict[str, float]  # from left to right; the bar is as long as their sum
    told: str = ""  # to the right of all bars
    mark: float | None = None  # where its end was expected, or was measured
    group: str = ""  # bars of one group stand under its name


@dataclass(frozen=True)
class Scale:
    """The horizontal axis."""

    told: Callable[[float], str]  # e.g. text.time
    binary: bool = False  # ticks at powers of two
    inside: Callable[[float], str] | None = None  # written into wide parts
    mark_name: str = ""  # what the marks are
    greatest: float = 0  # where the axis ends at the least


def inches(bars: Sequence[Bar], entries: int, columns: int = 3) -> float:
    """As high as `bars` need with a legend of so many entries below."""
    lines = len(bars) + len({bar.group for bar in bars if bar.group})
    return (lines + math.ceil(entries / columns)) * INCHES_PER_LINE + INCHES_AROUND


def below(axes: Axes, columns: int = 3, order: Sequence[str] = ()) -> None:
    """The legend of all axes of the figure under them, where it covers no data."""
    entries = {}
    for each in axes.figure.axes:
        handles, labels = each.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    names = [name for name in order if name in entries]
    names += [name for name in entries if name not in names]
    if not names:
        return
    axes.figure.legend(
        [entries[name] for name in names],
        names,
        loc="outside lower center",
        ncols=columns,
        handlelength=1.5,
        columnspacing=1.2,
    )


def stacked(
    axes: Axes, bars: Sequence[Bar], looks: dict[str, Look], scale: Scale
) -> None:
    """Draws the bars from top to bottom and their axis, but no legend."""
    heights = _heights(axes, bars)
    longest = max(sum(bar.parts.values()) for bar in bars)
    marks = [bar.mark for bar in bars if bar.mark is not None]
    end = max([longest, scale.greatest, *marks]) * 1.02
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
    """Where each bar stands; names bars and groups on the vertical axis."""
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
    told = FuncFormatter(lambda value, _: scale.told(value) if value else "0")
    axes.xaxis.set_major_formatter(told)


def _write(axes: Axes, x: float, y: float, what: str, look: Look) -> None:
    red, green, blue = to_rgb(look.colour)
    luminance = 0.299 * red + 0.587 * green + 0.114 * blue
    # Not black, which a dark page makes light: the bar stays as it is.
    colour = "white" if luminance < DARK else "#111111"
    axes.text(x, y, what, ha="center", va="center", fontsize=8, color=colour)


def _beside(axes: Axes, bar: Bar, height: float) -> None:
    place = axes.get_yaxis_transform()
    axes.text(1.02, height, bar.told, transform=place, va="center", fontsize=9)


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
