# SPDX-License-Identifier: MIT
"""The plot of an experiment that has none of its own."""

from matplotlib.axes import Axes

from reports.answers.measured import time_of
from reports.pages.plotting.axes import set_log_ticks
from reports.pages.plotting.bars import INCHES_AROUND, INCHES_PER_LINE
from reports.pages.plotting.figure import COLOURS, Figure, draw
from reports.results import text
from reports.results.rows import Result

MOST = 40  # cases that are legible one below the other
_WIDTH = 7.0  # inches


def plain(result: Result, experiment: str) -> list[Figure]:
    """The time of each case with its 95 % interval, the first cases of many."""
    rows = result.of(experiment)[:MOST]
    if not rows:
        return []
    names = [row.name.partition("/")[2] or row.name for row in rows]
    measured = [time_of(row) for row in rows]
    times = [time.value for time in measured]
    errors = [
        [time.value - time.low if time.is_known else 0.0 for time in measured],
        [time.high - time.value if time.is_known else 0.0 for time in measured],
    ]

    def paint(axes: Axes) -> None:
        places = range(len(rows))
        axes.set_xscale("log")
        axes.set_xlim(0.7 * min(times), 1.5 * max(times))
        axes.errorbar(times, places, xerr=errors, fmt="o", color=COLOURS[0])
        axes.set_yticks(list(places), names, fontsize=8)
        axes.invert_yaxis()
        set_log_ticks(axes.xaxis, text.time)

    some = f", the first {MOST} cases" if len(result.of(experiment)) > MOST else ""
    return [
        draw(
            f"{experiment}: time of each case{some}",
            f"The median time of each case of {experiment} with its 95 % interval: "
            + ", ".join(
                f"{name} {text.time(time)}"
                for name, time in zip(names, times, strict=True)
            ),
            paint,
            (_WIDTH, INCHES_AROUND + INCHES_PER_LINE * len(rows)),
        )
    ]
