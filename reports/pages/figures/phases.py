# SPDX-License-Identifier: MIT
"""Where the time of steps goes: a bar for each, divided into its phases."""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes

from reports.answers.against import compared, size_of
from reports.answers.shapes import step_text
from reports.answers.tables import PHASES
from reports.experiments.implementations import IMPLEMENTATION
from reports.pages.plotting.bars import (
    Bar,
    Look,
    Scale,
    draw_bars,
    height_of,
    legend_below,
)
from reports.pages.plotting.figure import COLOURS, HALF, Figure, draw
from reports.results import text
from reports.results.rows import Result, Row

LOOKS = {
    name: Look(COLOURS[place])
    for name, place in zip(PHASES, (0, 1, 2, 4, 3), strict=True)
}


def phases_of(row: Row) -> dict[str, float]:
    return {name: us for name in PHASES if (us := row.get(f"{name}_us"))}


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

    def paint(axes: Axes) -> None:
        draw_bars(axes, bars, LOOKS, Scale(text.time, inside=text.time))
        legend_below(axes, len(PHASES), PHASES)

    totals = ", ".join(f"{bar.label} {bar.value}" for bar in bars)
    size = (HALF[0], height_of(bars, len(PHASES), len(PHASES)) + 0.2)
    return [draw(title, f"The median time of each phase: {totals}.", paint, size)]


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
