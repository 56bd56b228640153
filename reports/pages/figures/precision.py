# SPDX-License-Identifier: MIT
"""Plots of speed and memory by precision."""

from collections.abc import Sequence

from reports.answers.measured import exactly
from reports.pages.plotting.figure import COLOURS, Figure
from reports.pages.plotting.grouped import Bar, grouped
from reports.pages.plotting.steps import at_one_shape, tokens_of
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
    bars = [
        Bar(_step(row), row.words["precision"], exactly(row[counter]))
        for row in rows
        if row.get(counter)
    ]
    return grouped(bars, PRECISIONS, title, description, one="fp32")


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
