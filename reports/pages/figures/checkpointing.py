# SPDX-License-Identifier: MIT
"""The plot of time against memory of a step that computes part of it twice."""

from matplotlib.axes import Axes

from reports.answers.against import Choice, compared
from reports.answers.checkpointing import CHECKPOINT
from reports.pages.plotting.axes import legend_above, nested, set_ticks
from reports.pages.plotting.figure import COLOURS, HALF, Figure, draw
from reports.pages.plotting.steps import at_one_shape, tokens_of
from reports.results import text
from reports.results.rows import Result

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

    def paint(axes: Axes) -> None:
        for number, choice in enumerate(found):
            points = _points(choice)
            look = {"color": COLOURS[number % len(COLOURS)]} | nested(number)
            places = [point[:2] for point in points]
            axes.plot(*zip(*places, strict=True), "o", label=choice.label, **look)
            edge = [point[:2] for point in frontier(points)]
            axes.plot(*zip(*edge, strict=True), "-", linewidth=1, color=look["color"])
            # The choices lie alike in all steps.
            for x, y, name in points if number == 0 else []:
                axes.annotate(
                    *(name, (x, y), (4, 4)), textcoords="offset points", fontsize=8
                )
        axes.plot(1, 1, "ko", label=CHECKPOINT.base)
        axes.set_xlim(0, 1.1)
        axes.set_xlabel("peak memory")
        axes.set_ylabel("time")
        set_ticks(axes.xaxis, text.significant)
        set_ticks(axes.yaxis, text.significant)
        legend_above(axes, 2)

    description = (
        f"The time of a step{tokens_of(rows[0])} over its peak memory, both as "
        "multiples of those without checkpointing; lines join the choices that no "
        "other beats in both."
    )
    title = "Time against memory of checkpointed steps"
    return [draw(title, description, paint, (HALF[0], 3.8))]
