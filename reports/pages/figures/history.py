# SPDX-License-Identifier: MIT
"""Plots of the times of one machine over revisions."""

import math

import numpy as np
import pandas

from reports.pages.plotting.canvas import WIDE, Figure, Scale
from reports.pages.plotting.lines import Plane, Series, draw_lines, logarithmic
from reports.pages.plotting.palette import CLEAR_COLOURS
from reports.pages.plotting.runs import Runs, collect
from reports.results import text
from reports.results.rows import Result

MOST_LINES = 8  # in colour; further lines are grey


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


def _draw(
    title: str, said: str, runs: Runs, lines: pandas.DataFrame, grey: pandas.DataFrame
) -> Figure:
    """`lines` in colour, and `grey` with one entry in the legend."""
    labels = list(runs.ratios.columns)
    series = {
        f"{len(grey)} more" if place == 0 else f" {place}": Series(
            "#bbbbbb", list(enumerate(grey.iloc[place]))
        )
        for place in range(len(grey))
    }
    for place, (name, values) in enumerate(lines.iterrows()):
        colour = CLEAR_COLOURS[place % len(CLEAR_COLOURS)]
        points = list(enumerate(values))
        series[str(name)] = Series(colour, points, points, name=f"line-{place}")
    if len(series) == 1:
        series[" "] = Series("none")
    left_out = runs.what_is_left_out()
    every = [1.0, *lines.to_numpy().ravel(), *grey.to_numpy().ravel()]
    plane = Plane(
        Scale(-0.3, len(labels) - 0.7),
        logarithmic(every),
        lambda place: labels[round(place)],
        text.significant,
        "revision, by date" + (f" ({left_out})" if left_out else ""),
        range(len(labels)),
        WIDE,
    )
    return draw_lines(title, said, plane, series)


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

    description = (
        f"Over {means.shape[1]} files, relative to the first, the geometric mean "
        f"of each experiment's rows. At the last: {', '.join(means.index)}."
    )
    first, rest = means.iloc[:MOST_LINES], means.iloc[MOST_LINES:]
    return _draw("History: experiments", description, runs, first, rest)


def _rows(runs: Runs) -> Figure:
    ratios = runs.ratios
    order = _spread(ratios).sort_values(ascending=False, kind="stable").index
    moved = ratios.loc[order[:MOST_LINES]]
    moved.index = pandas.Index(
        [f"x {moved.loc[name].iloc[-1]:.3f} {name}" for name in moved.index]
    )

    description = (
        f"The {len(moved)} of {len(ratios)} rows that moved most from the first file "
        f"to the last: {', '.join(moved.index)}."
    )
    title = "History: rows that moved most"
    return _draw(title, description, runs, moved, ratios.iloc[:0])


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
