# SPDX-License-Identifier: MIT
"""Axes shared by all plots: ticks with units, horizontal bars, legends."""

import math
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
)

from reports.pages.plotting.figure import PAPER

Formatter = Callable[[float], str]  # e.g. text.time
BAR = 0.3  # inches of a bar and its distance to the next


def canvas_of(axes: Axes) -> Canvas:
    canvas = axes.get_figure(root=True)
    assert canvas is not None
    return canvas


def set_ticks(axis: Axis, formatted: Formatter, ticks: int = 5) -> None:
    """Puts ticks at a few round numbers of a linear axis."""
    axis.set_major_locator(MaxNLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: formatted(value)))


def set_log_ticks(axis: Axis, formatted: Formatter) -> None:
    """Puts ticks on a logarithmic axis, after all data are drawn."""
    low, high = axis.get_view_interval()
    # A horizontal axis has room for fewer labels.
    decades = math.log10(high / low) * (2 if isinstance(axis, XAxis) else 1)
    within: tuple[float, ...] = (1, 1.5, 2, 3, 5, 7)
    for least, fewer in ((0.8, (1, 2, 5)), (1.5, (1, 3)), (3, (1,))):
        within = fewer if decades > least else within
    axis.set_major_locator(LogLocator(10, subs=within, numticks=99))
    axis.set_major_formatter(FuncFormatter(lambda value, _: formatted(value)))
    axis.set_minor_locator(NullLocator())


def set_binary_ticks(axis: Axis, formatted: Formatter) -> None:
    """Puts ticks at powers of two of a logarithmic axis after all data are drawn."""
    low, high = (math.log2(end) for end in axis.get_view_interval())
    powers = range(math.ceil(low), math.floor(high) + 1)
    step = max(1, math.ceil(len(powers) / 6))
    set_ticks_at(axis, [2.0**power for power in powers if power % step == 0], formatted)


def set_ticks_at(axis: Axis, values: Sequence[float], formatted: Formatter) -> None:
    """Puts ticks at these values only."""
    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: formatted(value)))
    axis.set_minor_locator(NullLocator())


def height(bars: int) -> float:
    """The height in inches of a plot with so many bars, an axis and a legend."""
    return 1.2 + BAR * bars


def name_bars(axes: Axes, labels: Sequence[str]) -> None:
    """Labels horizontal bars, the first on top, and hides their grid lines."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(False, axis="y")


def name_groups(axes: Axes, names: Sequence[str]) -> None:
    """Labels each group of adjacent bars with the same name once, at its middle."""
    name_bars(axes, names)
    ticks, labels = [], []
    for name, group in groupby(range(len(names)), key=lambda place: names[place]):
        places = list(group)
        ticks.append(sum(places) / len(places))
        labels.append(name)
    axes.set_yticks(ticks, labels)


def write_beside(axes: Axes, ends: Sequence[float], texts: Sequence[str]) -> None:
    """Writes a text beside the end of each bar, and widens the axis for it."""
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
    """Puts the legend above the plot, where it covers no data."""
    canvas_of(axes).legend(
        loc="outside upper left",
        ncols=columns,
        borderaxespad=0.2,
        columnspacing=1.2,
        handlelength=1.2,
        borderpad=0.2,
    )


def nested(number: int) -> dict[str, Any]:
    """The style of one of several curves; coinciding curves stay distinguishable."""
    return {"linewidth": max(1, 3 - 0.5 * number), "markersize": max(4, 8 - number)}
