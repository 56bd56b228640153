# SPDX-License-Identifier: MIT
"""Plots of the implementations of a step."""

from collections.abc import Callable

from reports.answers.against import Choice, compared
from reports.answers.implementations import IMPLEMENTATION
from reports.answers.measured import Measured, exactly
from reports.pages.plotting.figure import COLOURS, Figure
from reports.pages.plotting.grouped import Bar, grouped
from reports.pages.plotting.steps import at_one_shape, tokens_of
from reports.results.rows import Result, Row

# The others stand beside the textbook.
IMPLEMENTATIONS = {
    "textbook": COLOURS[0],
    "library": COLOURS[1],
    "fused": COLOURS[2],
}
_BESIDE = {name: IMPLEMENTATIONS[name] for name in ("library", "fused")}


def _step(row: Row) -> str:
    return " ".join(row.words[key] for key in ("model", "precision", "mode"))


def implementations(result: Result) -> list[Figure]:
    rows = at_one_shape(result.of("implementations"))
    found = compared(rows, IMPLEMENTATION)

    def bars(ratio: Callable[[Choice, Row], Measured | None]) -> list[Bar]:
        return [
            Bar(_step(row), name, value)
            for choice in found
            for name, row in choice.others.items()
            if (value := ratio(choice, row))
        ]

    def peak(choice: Choice, row: Row) -> Measured | None:
        value = choice.peak(row)
        return None if value is None else exactly(value)

    tokens = tokens_of(rows[0]) if rows else ""
    return [
        *grouped(
            *(bars(Choice.time), _BESIDE, "Time against the textbook"),
            f"The time of a step{tokens}, as a multiple of the textbook's, with its "
            "95 % interval.",
            one=IMPLEMENTATION.base,
        ),
        *grouped(
            *(bars(peak), _BESIDE, "Peak memory against the textbook"),
            f"The peak memory of a step{tokens}, as a multiple of the textbook's.",
            one=IMPLEMENTATION.base,
        ),
    ]
