# SPDX-License-Identifier: MIT
"""What plots have in common: ticks that read as people write, and bars."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
)

from reports.pages.plotting.figure import PAPER

Told = Callable[[float], str]
BAR = 0.3  # inches that a bar takes, and the space to the next


def tell(axis: Axis, told: Told, ticks: int = 5) -> None:
    """Of a linear axis: a few round numbers, with their unit."""
    axis.set_major_locator(MaxNLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: told(value)))


def tell_decades(axis: Axis, told: Told) -> None:
    """Of a logarithmic axis, once all is drawn: more ticks if it is short."""
    low, high = axis.get_view_interval()
    # Side by side fewer labels have room than one above the other.
    decades = math.log10(high / low) * (2 if axis.axis_name == "x" else 1)
    within: tuple[float, ...] = (1, 1.5, 2, 3, 5, 7)
    for least, fewer in ((0.8, (1, 2, 5)), (1.5, (1, 3)), (3, (1,))):
        within = fewer if decades > least else within
    axis.set_major_locator(LogLocator(10, subs=within, numticks=99))
    axis.set_major_formatter(FuncFormatter(lambda value, _: told(value)))
    axis.set_minor_locator(NullLocator())


def tell_doublings(axis: Axis, told: Told) -> None:
    """Of a logarithmic axis of binary sizes, once all is drawn."""
    low, high = (math.log2(end) for end in axis.get_view_interval())
    powers = range(math.ceil(low), math.floor(high) + 1)
    step = max(1, math.ceil(len(powers) / 6))
    tell_these(axis, [2.0**power for power in powers if power % step == 0], told)


def tell_these(axis: Axis, values: Sequence[float], told: Told) -> None:
    """Ticks where there are measurements and nowhere else."""
    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: told(value)))
    axis.set_minor_locator(NullLocator())


def height(bars: int) -> float:
    """Inches of a plot of so many bars, with its axis and legend."""
    return 1.2 + BAR * bars


def stacked_bars(
    axes: Axes,
    labels: Sequence[str],
    parts: Mapping[str, Sequence[float]],
    colours: Mapping[str, str],
) -> None:
    """Horizontal bars, the first on top, each a row of parts."""
    left = [0.0] * len(labels)
    for name, widths in parts.items():
        axes.barh(
            range(len(labels)),
            widths,
            left=left,
            height=0.66,
            color=colours[name],
            label=name,
        )
        left = [start + width for start, width in zip(left, widths, strict=True)]
    name_bars(axes, labels)


def name_bars(axes: Axes, labels: Sequence[str]) -> None:
    """The first bar on top; only the lines that tell values stay."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(False, axis="y")


def name_groups(axes: Axes, names: Sequence[str]) -> None:
    """One name for each group of neighbouring bars that share it, at its middle."""
    name_bars(axes, names)
    ticks, labels = [], []
    for name, group in groupby(range(len(names)), key=lambda place: names[place]):
        places = list(group)
        ticks.append(sum(places) / len(places))
        labels.append(name)
    axes.set_yticks(ticks, labels)


def write_beside(axes: Axes, ends: Sequence[float], texts: Sequence[str]) -> None:
    """At the end of each bar what it comes to, with room for it in the plot."""
    for place, (end, text) in enumerate(zip(ends, texts, strict=True)):
        axes.annotate(
            text,
            (end, place),
            (4, 0),
            textcoords="offset points",
            va="center",
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1},
        )
    axes.set_xlim(0, max(ends) * 1.22)


def legend_above(axes: Axes, columns: int) -> None:
    """Above the plot, over all of its width, where it can hide nothing."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.legend(
        loc="outside upper left",
        ncols=columns,
        borderaxespad=0.2,
        columnspacing=1.2,
        handlelength=1.2,
        borderpad=0.2,
    )


def nested(number: int) -> dict[str, float]:
    """The look of one of several curves: where two are one, both can be seen."""
    return {"linewidth": max(1, 3 - 0.5 * number), "markersize": max(4, 8 - number)}
