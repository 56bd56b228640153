# SPDX-License-Identifier: MIT
"""The law of a collective: measured times and rates, and what is fitted to them."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from reports.pages.plotting.bars import CLEAR_COLOURS, below
from reports.pages.plotting.figure import Figure, draw
from reports.results import text
from reports.results.alpha_beta import AlphaBeta, fit_alpha_beta
from reports.results.rows import Result, Row


@dataclass(frozen=True)
class Series:
    """One backend with so many ranks."""

    name: str
    sizes: list[float]
    times_us: list[float]
    fit: AlphaBeta | None  # None: all of one size
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
        sizes = [row["bytes"] for row in rows]
        times = [row["p50_us"] for row in rows]
        fit = fit_alpha_beta(sizes, times) if len(set(sizes)) > 1 else None
        marker = "osD^"[backends.index(backend) % 4]
        colour = CLEAR_COLOURS[index % len(CLEAR_COLOURS)]
        name = f"{backend}, {ranks} ranks"
        series.append(Series(name, sizes, times, fit, marker, colour))
    return series


def _law(one: Series) -> str:
    if one.fit is None:
        return one.name
    if not one.fit.us_per_byte:
        return f"{one.name}: {text.time(one.fit.alpha_us)}, whatever S"
    rate = text.rate(one.fit.bytes_per_second, "B/s")
    return f"{one.name}: {text.time(one.fit.alpha_us)} + S / ({rate})"


def _logarithmic(axes: Axes, told: Callable[[float], str], what: str) -> None:
    """Sizes below, `what` to the left, both in units that people read."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(LogLocator(base=32, numticks=20))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: text.size(size)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: told(value)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("size S of the buffer")
    axes.set_ylabel(what)


def _curves(
    axes: Axes, series: Sequence[Series], value: Callable[[float, float], float]
) -> None:
    """`value` of a size and a time: measured as points, fitted as a line."""
    for one in series:
        points = [value(*point) for point in zip(one.sizes, one.times_us, strict=True)]
        measured = {"marker": one.marker, "color": one.colour, "markersize": 5}
        if one.fit is None:
            axes.plot(one.sizes, points, linestyle="none", label=one.name, **measured)
            continue
        dense = np.geomspace(min(one.sizes), max(one.sizes), 60)
        fitted = [value(size, one.fit.time_us(size)) for size in dense]
        axes.plot(one.sizes, points, linestyle="none", **measured)
        axes.plot(dense, fitted, color=one.colour, linewidth=1.2)
        # One entry shows both.
        axes.plot([], [], linewidth=1.2, label=_law(one), **measured)


def all_reduce(result: Result) -> list[Figure]:
    """Time and rate over size, with the law fitted to each backend and ranks."""
    series = _series(result)
    if not any(one.fit for one in series):
        return []

    def times(axes: Axes) -> None:
        _logarithmic(axes, text.time, "time")
        _curves(axes, series, lambda _, time_us: time_us)
        below(axes, columns=2)

    def rates(axes: Axes) -> None:
        told = lambda rate: text.rate(rate, "B/s")  # noqa: E731
        _logarithmic(axes, told, "algorithm bandwidth")
        _curves(axes, series, lambda size, time_us: size / time_us * 1e6)
        below(axes, columns=2)

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
