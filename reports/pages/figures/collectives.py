# SPDX-License-Identifier: MIT
"""Plots of collectives over size, with the fitted alpha-beta model."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from reports.pages.plotting.axes import Formatter
from reports.pages.plotting.bars import CLEAR_COLOURS, legend_below
from reports.pages.plotting.figure import Figure, draw
from reports.results import text
from reports.results.alpha_beta import AlphaBeta, fit_alpha_beta
from reports.results.rows import Result, Row


@dataclass(frozen=True)
class Series:
    """The measurements of one backend and number of ranks."""

    name: str
    sizes: list[float]
    times_us: list[float]
    fit: AlphaBeta | None  # None for a single size
    marker: str
    colour: str


def _series(result: Result) -> list[Series]:
    found: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in result.of("all_reduce"):
        found[row.words["backend"], int(row["ranks"])].append(row)
    backends = list(dict.fromkeys(backend for backend, _ in found))
    series = []
    for index, ((backend, ranks), rows) in enumerate(found.items()):
        rows = sorted(rows, key=lambda row: row["bytes"])
        sizes = [row.positive("bytes") for row in rows]
        times = [row.time_us for row in rows]
        fit = fit_alpha_beta(sizes, times) if len(set(sizes)) > 1 else None
        marker = "osD^"[backends.index(backend) % 4]
        colour = CLEAR_COLOURS[index % len(CLEAR_COLOURS)]
        name = f"{backend}, {ranks} ranks"
        series.append(Series(name, sizes, times, fit, marker, colour))
    return series


def _law(series: Series) -> str:
    name, fit = series.name, series.fit
    if fit is None:
        return name
    if not fit.us_per_byte:
        return f"{name}: {text.time(fit.alpha_us)}, whatever S"
    rate = text.rate(fit.bytes_per_second, "B/s")
    return f"{name}: {text.time(fit.alpha_us)} + S / ({rate})"


def _logarithmic(axes: Axes, formatted: Formatter, label: str) -> None:
    """Makes both axes logarithmic: sizes below, the labelled quantity to the left."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(LogLocator(base=32, numticks=20))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: text.size(size)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: formatted(value)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("size S of the buffer")
    axes.set_ylabel(label)


def _curves(
    axes: Axes, series: Sequence[Series], value: Callable[[float, float], float]
) -> None:
    """Plots `value`, a function of size and time: measured points and fitted line."""
    for s in series:
        points = list(map(value, s.sizes, s.times_us))
        look: dict[str, Any] = {"marker": s.marker, "color": s.colour, "markersize": 5}
        if s.fit is None:
            axes.plot(s.sizes, points, linestyle="none", label=s.name, **look)
            continue
        dense = np.geomspace(min(s.sizes), max(s.sizes), 60)
        fitted = [value(size, s.fit.time_us(size)) for size in dense]
        axes.plot(s.sizes, points, linestyle="none", **look)
        axes.plot(dense, fitted, color=s.colour, linewidth=1.2)
        # One legend entry shows point and line.
        axes.plot([], [], linewidth=1.2, label=_law(s), **look)


def all_reduce(result: Result) -> list[Figure]:
    """Time and bandwidth over size, with a fit per backend and number of ranks."""
    series = _series(result)
    if not any(s.fit for s in series):
        return []

    def times(axes: Axes) -> None:
        _logarithmic(axes, text.time, "time")
        _curves(axes, series, lambda _, time_us: time_us)
        legend_below(axes, columns=2)

    def rates(axes: Axes) -> None:
        _logarithmic(axes, partial(text.rate, unit="B/s"), "algorithm bandwidth")
        _curves(axes, series, lambda size, time_us: size / time_us * 1e6)
        legend_below(axes, columns=2)

    laws = "; ".join(map(_law, series))
    size = (7.2, 3.4 + 0.22 * ((len(series) + 1) // 2))
    return [
        draw(
            "All-reduce: time over size",
            f"Measured times, and a fixed cost plus size by rate fitted: {laws}.",
            times,
            size,
        ),
        draw(
            "All-reduce: bandwidth over size",
            f"Size by time, as measured and as the fit has it: {laws}.",
            rates,
            size,
        ),
    ]
