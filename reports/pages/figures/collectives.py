# SPDX-License-Identifier: MIT
"""Plots of collectives over size, with the fitted alpha-beta model."""

from collections.abc import Callable
from functools import partial
from itertools import cycle

import numpy as np

from reports.answers.collectives import AlphaBeta, fit_alpha_beta, law_text, series_of
from reports.pages.plotting.canvas import CLEAR_COLORS, WIDE, Figure, Formatter, Point
from reports.pages.plotting.lines import Plane, Series, draw_lines, logarithmic
from reports.results import text
from reports.results.rows import Result

# A name, points (bytes and us), and the fit, which is None for a single size.
Law = tuple[str, list[Point], AlphaBeta | None]


def _laws(result: Result) -> list[Law]:
    """Fits the law of each backend and number of ranks."""
    laws: list[Law] = []
    for name, rows in series_of(result).items():
        points = sorted((row.positive("bytes"), row.time_us) for row in rows)
        sizes, times = zip(*points, strict=True)
        fit = fit_alpha_beta(sizes, times) if len(set(sizes)) > 1 else None
        laws.append((f"{name}: {law_text(fit)}" if fit else name, points, fit))
    return laws


def _figure(
    laws: list[Law],
    title: str,
    value: Callable[[float, float], float],
    formatted: Formatter,
) -> Figure:
    """Plots `value(size, time)`: points are measured, lines are fitted."""
    series = {}
    for (name, points, fit), color in zip(laws, cycle(CLEAR_COLORS)):
        dots = [(size, value(size, us)) for size, us in points]
        dense = np.geomspace(points[0][0], points[-1][0], 60) if fit else ()
        line = [(float(s), value(s, fit.time_us(s))) for s in dense if fit]
        series[name] = Series(color, line, dots)
    every = [point for each in series.values() for point in (*each.line, *each.dots)]
    plane = Plane(
        logarithmic([size for size, _ in every], base=2),
        logarithmic([y for _, y in every]),
        text.size,
        formatted,
        x_label="size S of the buffer",
        width=WIDE,
    )
    said = f"Points as measured, lines as fitted: {'; '.join(n for n, *_ in laws)}."
    return draw_lines(title, said, plane, series)


def all_reduce(result: Result) -> list[Figure]:
    """Plots time and bandwidth over size, with fits by backend and number of ranks."""
    laws = _laws(result)
    if not any(fit for *_, fit in laws):
        return []
    rate = partial(text.rate, unit="B/s")
    bandwidth = "All-reduce: bandwidth over size"
    return [
        _figure(laws, "All-reduce: time over size", lambda _, us: us, text.time),
        _figure(laws, bandwidth, lambda size, us: size / us * 1e6, rate),
    ]
