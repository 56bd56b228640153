# SPDX-License-Identifier: MIT
"""Plots of speed and memory by precision."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from reports.pages.plotting.axes import (
    height,
    legend_above,
    name_groups,
    set_ticks,
    write_beside,
)
from reports.pages.plotting.figure import COLOURS, HALF, Figure, draw
from reports.pages.plotting.steps import at_one_shape, tokens_of
from reports.results import text
from reports.results.rows import Result, Row

PRECISIONS = {
    "fp32": COLOURS[0],
    "tf32": COLOURS[4],
    "bf16_autocast": COLOURS[1],
    "bf16": COLOURS[2],
}


def _step(row: Row) -> str:
    return f"{row.words['model']} {row.words['mode']}"


def _compared(
    rows: Sequence[Row], counter: str, title: str, description: str
) -> list[Figure]:
    """Bars of a ratio to fp32: a group per step, a colour per precision."""
    rows = [row for row in rows if row.get(counter)]
    if not rows:
        return []
    ratios = [row[counter] for row in rows]
    steps = [_step(row) for row in rows]

    def paint(axes: Axes) -> None:
        for precision, colour in PRECISIONS.items():
            places = [
                place
                for place, row in enumerate(rows)
                if row.words["precision"] == precision
            ]
            widths = [ratios[place] for place in places]
            if places:
                axes.barh(places, widths, 0.66, color=colour, label=precision)
        name_groups(axes, steps)
        write_beside(axes, ratios, [text.significant(ratio) for ratio in ratios])
        axes.set_xlim(0, max(1.1, axes.get_xlim()[1]))
        axes.axvline(1, color="black", linewidth=1, linestyle="--", label="fp32")
        legend_above(axes, len(PRECISIONS))
        set_ticks(axes.xaxis, text.significant)

    return [draw(title, description, paint, (HALF[0], height(len(rows))))]


def precision(result: Result) -> list[Figure]:
    rows = at_one_shape(result.of("precision"))
    steps = list(dict.fromkeys(map(_step, rows)))  # in run order
    rows.sort(key=lambda row: steps.index(_step(row)))
    tokens = tokens_of(rows[0]) if rows else ""
    return [
        *_compared(
            *(rows, "speedup", "Speed-up over fp32"),
            f"How many times as fast as fp32 a step{tokens} is.",
        ),
        *_compared(
            *(rows, "peak_ratio", "Peak memory against fp32"),
            f"The peak memory of a step{tokens}, as a multiple of that in fp32.",
        ),
    ]
