# SPDX-License-Identifier: MIT
"""The plot of time against memory of a step that computes part of it twice."""

from itertools import cycle

from matplotlib.axes import Axes

from reports.answers.against import Choice, compared
from reports.answers.checkpointing import CHECKPOINT
from reports.pages.plotting.axes import legend_above, set_ticks
from reports.pages.plotting.figure import COLOURS, HALF, Figure, draw
from reports.pages.plotting.steps import at_one_shape, tokens_of
from reports.results import text
from reports.results.rows import Result

_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
Point = tuple[float, float, str]  # peak and time over those without, and the name


def _points(choice: Choice) -> list[Point]:
    return [
        (peak, time.value, name)
        for name, row in choice.others.items()
        if (peak := choice.peak(row)) and (time := choice.time(row))
    ]


def frontier(points: list[Point]) -> list[Point]:
    """Those that no other point beats in both, by memory; 1 x 1 is one of them."""
    best: list[Point] = []
    for point in sorted([*points, (1.0, 1.0, CHECKPOINT.base)]):
        if not best or point[1] < best[-1][1]:
            best.append(point)
    return best


def checkpointing(result: Result) -> list[Figure]:
    rows = at_one_shape(result.of("checkpointing"))
    found = [choice for choice in compared(rows, CHECKPOINT) if _points(choice)]
    if not found:
        return []

    names = list(dict.fromkeys(name for one in found for name in one.others))

    def paint(axes: Axes) -> None:
        for choice, marker in zip(found, cycle(_MARKERS)):
            points = _points(choice)
            edge = [point[:2] for point in frontier(points)]
            axes.plot(*zip(*edge, strict=True), "-", linewidth=0.8, color="black")
            for x, y, name in points:
                colour = COLOURS[names.index(name) % len(COLOURS)]
                axes.plot(x, y, marker, color=colour)
        axes.plot(1, 1, "ko", label=CHECKPOINT.base)
        # The colour tells the choice, the shape the step.
        for number, name in enumerate(names):
            axes.plot([], [], "o", color=COLOURS[number % len(COLOURS)], label=name)
        for choice, marker in zip(found, cycle(_MARKERS)):
            axes.plot([], [], marker, color="black", mfc="none", label=choice.label)
        axes.set_xlim(0, 1.1)
        axes.set_xlabel("peak memory")
        axes.set_ylabel("time")
        set_ticks(axes.xaxis, text.significant)
        set_ticks(axes.yaxis, text.significant)
        legend_above(axes, 3)

    description = (
        f"The time of a step{tokens_of(rows[0])} over its peak memory, both as "
        "multiples of those without checkpointing; lines join the choices that no "
        "other beats in both."
    )
    title = "Time against memory of checkpointed steps"
    return [draw(title, description, paint, (HALF[0], 3.8))]
