# SPDX-License-Identifier: MIT
"""Plots of the times of one machine over revisions."""

import math

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from reports.pages.plotting.bars import CLEAR_COLOURS, legend_below
from reports.pages.plotting.figure import Figure, draw
from reports.pages.plotting.runs import Runs, collect
from reports.results import text
from reports.results.rows import Result

MOST_LINES = 8  # in colour; further lines are grey
MOST_MARKS = 12  # number of files up to which points have markers
STRAIGHT = 6  # number of labels that fit horizontally


def _change(times: "pandas.Series[float]") -> str:
    """The ratio of the last time to the first, among files with the row."""
    present = times.dropna()
    if len(present) < 2 or not present.iloc[0] > 0:
        return "-"
    return text.significant(present.iloc[-1] / present.iloc[0])


def table(results: list[Result]) -> tuple[list[str], list[list[str]]]:
    """Headings and lines: the times of every row in every file, and last / first.

    Errors: ValueError, if the results come from different devices.
    """
    runs = collect(results)
    lines = []
    for name, times in runs.times.iterrows():
        reasons = runs.missing.loc[name]
        cells = [
            (reason or "-") if math.isnan(time) else text.time(time)
            for time, reason in zip(times, reasons, strict=True)
        ]
        lines.append([str(name), *cells, _change(times)])
    return ["case", *runs.labels, "last / first"], lines


def _spread(ratios: pandas.DataFrame) -> "pandas.Series[float]":
    """The absolute log ratio of the last time to the first."""
    return np.log(ratios.iloc[:, -1]).abs()


def _means(ratios: pandas.DataFrame) -> tuple[pandas.DataFrame, "pandas.Series[int]"]:
    """The geometric mean over the rows of each experiment, and their number."""
    experiments = ratios.groupby(ratios.index.str.partition("/").get_level_values(0))
    return np.exp(experiments.agg(lambda column: np.log(column).mean())), (
        experiments.size()
    )


def _axis(axes: Axes, runs: Runs) -> None:
    labels = list(runs.ratios.columns)
    tilted = len(labels) > STRAIGHT
    axes.set_xticks(range(len(labels)), labels, rotation=90 if tilted else 0)
    axes.tick_params(axis="x", labelsize=8 if tilted else 9)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:.3g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    axes.set_ylabel("time / first time")
    axes.axhline(1, color="black", linewidth=0.8)
    left_out = runs.what_is_left_out()
    axes.set_xlabel("revision, by date" + (f"\n({left_out})" if left_out else ""))


def _paint(
    axes: Axes, runs: Runs, lines: pandas.DataFrame, others: pandas.DataFrame
) -> None:
    """Plots `lines` in colour, and `others` in grey with one legend entry."""
    places = range(lines.shape[1])
    marker = "o" if len(places) <= MOST_MARKS else None
    for index in range(len(others)):
        label = f"{len(others)} more" if index == 0 else None
        values = others.iloc[index]
        axes.plot(places, values, color="#bbbbbb", linewidth=0.9, label=label)
    for index, (name, values) in enumerate(lines.iterrows()):
        colour = CLEAR_COLOURS[index % len(CLEAR_COLOURS)]
        look = {"color": colour, "marker": marker, "markersize": 4, "label": name}
        axes.plot(places, values, linewidth=1.4, **look)[0].set_gid(f"line-{index}")
    _axis(axes, runs)


def _experiments(runs: Runs) -> Figure:
    means, counts = _means(runs.ratios)
    order = _spread(means).sort_values(ascending=False, kind="stable").index
    means = means.loc[order]
    means.index = pandas.Index(
        [
            f"x {means.loc[name].iloc[-1]:.3f} {name} "
            f"({text.plural(counts[name], 'row')})"
            for name in order
        ]
    )

    def paint(axes: Axes) -> None:
        _paint(axes, runs, means.iloc[:MOST_LINES], means.iloc[MOST_LINES:])
        legend_below(axes, 2, means.index)

    description = (
        f"Over {means.shape[1]} files, relative to the first, the geometric mean "
        f"of each experiment's rows. At the last: {', '.join(means.index)}."
    )
    lines = (min(len(means), MOST_LINES) + 2) // 2
    size = (7.2, 3.8 + 0.22 * lines)
    return draw("History: experiments", description, paint, size)


def _rows(runs: Runs) -> Figure:
    ratios = runs.ratios
    order = _spread(ratios).sort_values(ascending=False, kind="stable").index
    moved = ratios.loc[order[:MOST_LINES]]
    moved.index = pandas.Index(
        [f"x {moved.loc[name].iloc[-1]:.3f} {name}" for name in moved.index]
    )

    def paint(axes: Axes) -> None:
        _paint(axes, runs, moved, ratios.iloc[:0])
        legend_below(axes, 1)

    description = (
        f"The {len(moved)} of {len(ratios)} rows that moved most from the first file "
        f"to the last: {', '.join(moved.index)}."
    )
    size = (7.2, 3.6 + 0.21 * len(moved))
    return draw("History: rows that moved most", description, paint, size)


def history(results: list[Result]) -> list[Figure]:
    """Times of the common rows relative to the first file: the mean of each experiment,
    and the rows that changed most.

    Errors: ValueError, if the results come from different devices.
    """
    if len(results) < 2:
        return []
    runs = collect(results)
    if runs.ratios.empty or runs.ratios.shape[1] < 2:
        return []
    return [_experiments(runs), _rows(runs)]
