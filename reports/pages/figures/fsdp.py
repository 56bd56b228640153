# SPDX-License-Identifier: MIT
"""Plots of fully sharded training: time and memory, and memory over ranks."""

from collections import defaultdict

from matplotlib.axes import Axes

from reports.answers.fsdp import variant
from reports.pages.figures.parallel import (
    by_ranks,
    memory_bar,
    per_setting,
    side_by_side,
    time_bar,
)
from reports.pages.plotting.axes import set_binary_ticks, set_ticks_at
from reports.pages.plotting.bars import height_of
from reports.pages.plotting.figure import COLOURS, Figure, draw
from reports.results import text
from reports.results.rows import Result, Row


def _bars(setting: str, rows: list[Row]) -> Figure:
    members = by_ranks(rows)
    times = [time_bar(variant(row), group, row) for group, row in members]
    sizes = [memory_bar(*member) for member in members]
    summary = ", ".join(
        f"{time.label} ({time.group}) {time.value} and {size.value}"
        for time, size in zip(times, sizes, strict=True)
    )
    return draw(
        f"Fully sharded: {setting}",
        f"{summary}.",
        lambda axes: side_by_side(axes, times, sizes),
        (7.2, height_of(times, 6) + 0.3),
    )


def _over_ranks(setting: str, rows: list[Row]) -> Figure:
    lines: dict[str, dict[float, Row]] = defaultdict(dict)
    for _, row in by_ranks(rows):
        lines[variant(row)][row["ranks"]] = row
    ranks = sorted({row["ranks"] for row in rows})

    def paint(axes: Axes) -> None:
        for i, (name, points) in enumerate(lines.items()):
            colour = COLOURS[i % len(COLOURS)]
            peaks = [row["peak_bytes"] for row in points.values()]
            axes.plot(list(points), peaks, "o", color=colour, gid=f"peaks-{i}")
            predicted = {
                n: row.get("predicted_peak_bytes") for n, row in points.items()
            }
            known = {n: peak for n, peak in predicted.items() if peak}
            axes.plot(list(known), list(known.values()), color=colour, label=name)
        set_ticks_at(axes.xaxis, ranks, lambda n: f"{n:g}")
        axes.set_yscale("log", base=2)
        set_binary_ticks(axes.yaxis, text.size)
        axes.set_xlabel("ranks; points: measured, lines: predicted")
        axes.set_ylabel("peak memory of a rank")
        axes.legend(fontsize=8)

    ends = ", ".join(
        f"{name} {text.size(points[max(points)]['peak_bytes'])}"
        for name, points in lines.items()
    )
    return draw(
        f"Peak of a rank over ranks: {setting}",
        f"Measured and predicted peak memory. With the most ranks: {ends}.",
        paint,
        (7.2, 4.0),
    )


def fsdp(result: Result) -> list[Figure]:
    """A figure per setting with time and memory of each variant; where there are
    several numbers of ranks, one with the peak over them."""
    rows = result.of("fsdp")
    measured = [row for row in rows if row.get("peak_bytes")]
    several = len({row["ranks"] for row in measured}) > 1
    return [
        *(per_setting(rows, _bars) if rows else []),
        *(per_setting(measured, _over_ranks) if several else []),
    ]
