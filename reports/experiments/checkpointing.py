# SPDX-License-Identifier: MIT
"""benchmarks/checkpointing.cc: what a step gains in memory by computing part of it
twice, what that costs, and a plot of both."""

from collections.abc import Callable
from itertools import cycle

from matplotlib.axes import Axes

from reports.answers.against import Axis, Choice, Column, choices, compared, table, told
from reports.answers.cells import optional
from reports.answers.comparing import factor
from reports.pages.plotting.axes import legend_above, set_ticks
from reports.pages.plotting.figure import COLOURS, HALF, Figure, draw
from reports.pages.plotting.steps import at_one_shape, tokens_of
from reports.results import text
from reports.results.rows import Result, Row

__all__ = ["PLACE", "answer", "figures"]

PLACE = 35
_CHECKPOINT = Axis("checkpoint", "none")
# What fits the device: the counter and its words.
_FITTING = (
    ("largest_batch", "batch", "sequences"),
    ("largest_seq", "context", "tokens"),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_Point = tuple[float, float, str]  # peak and time over those without, and the name


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _growth(choice: Choice, row: Row, counter: str) -> float | None:
    """Of what fits, over what fits without checkpointing."""
    own, base = row.get(counter), choice.base.get(counter) if choice.base else None
    return own / base if own and base else None


def _gain(choice: Choice, counter: str, name: str, unit: str) -> str | None:
    """Who makes most room for it, and at which price."""
    grown = {
        key: value
        for key, row in choice.others.items()
        if (value := _growth(choice, row, counter))
    }
    best = max(grown, key=lambda key: grown[key], default=None)
    if best is None or grown[best] <= 1 or choice.base is None:
        return None
    row = choice.others[best]
    time = choice.time(row)
    assert time is not None
    price = factor(time, f"{choice.axis.base}'s time")
    return (
        f"the {name} that fits grows most with {best}, "
        f"{text.significant(grown[best])} times, from "
        f"{_count(choice.base[counter])} to {_count(row[counter])} {unit}; the "
        f"measured step takes {price}"
    )


def _told(choice: Choice) -> str:
    gains = [gain for fits in _FITTING if (gain := _gain(choice, *fits))]
    what = "; ".join(gains) or "no choice makes room for a larger batch or context"
    return f"In `{choice.label}`, by dry runs, {what}."


def _grown(counter: str) -> Callable[[Choice, Row], str]:
    def cell(choice: Choice, row: Row) -> str:
        fits, growth = row.get(counter), _growth(choice, row, counter)
        if fits is None:
            return "-"
        if growth is None or row is choice.base:
            return _count(fits)
        return f"{_count(fits)} ({text.significant(growth)}x)"

    return cell


def _again(_: Choice, row: Row) -> str:
    flops = row.get("flops")
    again = row.get("recomputed_flops") or 0.0
    return text.percent(again / flops) if flops else "-"


def _utilization(hardware: bool) -> Callable[[Choice, Row], str]:
    def cell(_: Choice, row: Row) -> str:
        # Where nothing is recomputed the hardware does what the model needs.
        has_own = hardware and row.get("hfu_measured") is not None
        return optional(
            row, "hfu_measured" if has_own else "mfu_measured", text.percent
        )

    return cell


def _predicted(_: Choice, row: Row) -> str:
    peak, predicted = row.get("peak_bytes"), row.get("predicted_peak_bytes")
    if not peak or not predicted:
        return "-"
    return f"{100 * (peak / predicted - 1):+.2f} %"


_COLUMNS: tuple[Column, ...] = (
    ("peak against prediction", _predicted),
    ("FLOPs again", _again),
    ("MFU", _utilization(hardware=False)),
    ("HFU", _utilization(hardware=True)),
    ("largest batch (dry run)", _grown("largest_batch")),
    ("longest context (dry run)", _grown("largest_seq")),
)


def answer(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("checkpointing")
    found = compared(rows, _CHECKPOINT)
    if not found:
        return None
    sentence = " ".join(_told(choice) for choice in told(found))
    return sentence, table(choices(rows, _CHECKPOINT), *_COLUMNS)


def _points(choice: Choice) -> list[_Point]:
    return [
        (peak, time.value, name)
        for name, row in choice.others.items()
        if (peak := choice.peak(row)) and (time := choice.time(row))
    ]


def frontier(points: list[_Point]) -> list[_Point]:
    """Those that no other point beats in both, by memory; 1 x 1 is one of them."""
    best: list[_Point] = []
    for point in sorted([*points, (1.0, 1.0, _CHECKPOINT.base)]):
        if not best or point[1] < best[-1][1]:
            best.append(point)
    return best


def figures(result: Result) -> list[Figure]:
    rows = at_one_shape(result.of("checkpointing"))
    found = [choice for choice in compared(rows, _CHECKPOINT) if _points(choice)]
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
        axes.plot(1, 1, "ko", label=_CHECKPOINT.base)
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
