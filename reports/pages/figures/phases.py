# SPDX-License-Identifier: MIT
"""Where the time of steps goes: a bar for each, divided into its phases."""

from collections.abc import Callable, Sequence

from reports.answers.against import compared, size_of
from reports.answers.shapes import step_text
from reports.answers.tables import PHASES, phases_of
from reports.experiments.implementations import IMPLEMENTATION
from reports.pages.plotting.bars import Bar, Look, draw_bars
from reports.pages.plotting.canvas import Figure
from reports.pages.plotting.palette import COLOURS
from reports.results import text
from reports.results.rows import Result, Row

LOOK = Look(
    text.time,
    inside=text.time,
    colours={
        name: COLOURS[place]
        for name, place in zip(PHASES, (0, 1, 2, 4, 3), strict=True)
    },
)


def phases(
    rows: Sequence[Row], label: Callable[[Row], str], title: str
) -> list[Figure]:
    """One figure; none if no row has phases."""
    bars = [
        Bar(label(row), phases_of(row), text.time(row.time_us))
        for row in rows
        if phases_of(row)
    ]
    if not bars:
        return []
    totals = ", ".join(f"{bar.label} {bar.value}" for bar in bars)
    return [draw_bars(title, f"The median time of each phase: {totals}.", bars, LOOK)]


def picture(result: Result) -> Figure | None:
    """The largest step in each of its implementations; without these the train steps of
    one shape. None without times."""
    if result.of_null_gpu:
        return None
    found = compared(result.of("implementations"), IMPLEMENTATION)
    if found:
        largest = max(found, key=size_of)
        rows = list(largest.rows.values())
        title = f"Where the time of {largest.label} goes"
        drawn = phases(rows, lambda row: row.words[IMPLEMENTATION.word], title)
    else:
        steps = result.of("model_size", mode="train_step")
        drawn = phases(steps, step_text, "Where the time of a step goes")
    return drawn[0] if drawn else None
