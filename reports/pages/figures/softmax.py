# SPDX-License-Identifier: MIT
"""Plots of the time of attention's parts over FLOPs and bytes."""

from collections.abc import Callable

from matplotlib.axes import Axes

from reports.pages.plotting.axes import legend_above, set_log_ticks
from reports.pages.plotting.figure import COLOURS, HALF, Figure, draw
from reports.results import text
from reports.results.rows import Result, Row

MARKERS = "os^D"
SIZE = (HALF[0], 3.5)


def softmax_vs_matmul(result: Result) -> list[Figure]:
    rows = [
        row
        for row in result.of("softmax_vs_matmul")
        if row.get("flops") and row.get("bytes")
    ]
    figures = []
    for precision in dict.fromkeys(row.words["precision"] for row in rows):
        alike = [row for row in rows if row.words["precision"] == precision]
        figures += [
            draw(
                f"Time against FLOPs, {precision}",
                "The time of each part of attention over its FLOPs, beside that of "
                "the best rate of these rows.",
                _scattered(alike, "flops", "FLOP"),
                SIZE,
            ),
            draw(
                f"Time against bytes, {precision}",
                "The time of each part of attention over the bytes that it moves, "
                "beside that of the best rate of these rows.",
                _scattered(alike, "bytes", "B"),
                SIZE,
            ),
        ]
    return figures


def _scattered(rows: list[Row], counter: str, unit: str) -> Callable[[Axes], None]:
    """Paints a point per row, and the line of the best rate."""

    def paint(axes: Axes) -> None:
        axes.set_xscale("log")
        axes.set_yscale("log")
        for number, part in enumerate(dict.fromkeys(r.words["part"] for r in rows)):
            points = [row for row in rows if row.words["part"] == part]
            axes.plot(
                [row[counter] for row in points],
                [row.time_us for row in points],
                MARKERS[number % len(MARKERS)],
                color=COLOURS[number],
                label=part,
            )
        best = max(row[counter] / row.time_us for row in rows)
        ends = [min(row[counter] for row in rows), max(row[counter] for row in rows)]
        axes.plot(
            ends,
            [end / best for end in ends],
            color="black",
            linewidth=1,
            linestyle="--",
            label=f"at {text.rate(best * 1e6, f'{unit}/s')}",
        )
        set_log_ticks(axes.xaxis, lambda value: text.rate(value, unit))
        set_log_ticks(axes.yaxis, text.time)
        legend_above(axes, 3)

    return paint
