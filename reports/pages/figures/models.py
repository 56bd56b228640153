# SPDX-License-Identifier: MIT
"""Plots of a training step and its optimizer."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from reports.pages.plotting.axes import (
    height,
    legend_above,
    name_groups,
    set_ticks,
    stacked_bars,
    write_beside,
)
from reports.pages.plotting.figure import COLOURS, HALF, Figure, draw
from reports.pages.plotting.steps import at_one_shape, tokens_of
from reports.results import text
from reports.results.rows import Result, Row

PHASES = dict(zip(("forward", "loss", "backward", "optimizer"), COLOURS, strict=False))


def _phases(row: Row) -> dict[str, float]:
    return {name: row.get(f"{name}_us") or 0 for name in PHASES}


def model_size(result: Result) -> list[Figure]:
    steps = result.of("model_size", mode="train_step")
    steps = [row for row in at_one_shape(steps) if any(_phases(row).values())]
    if not steps:
        return []
    labels = [f"{row.words['model']} {row.words['precision']}" for row in steps]
    times = [row.time_us for row in steps]
    sums = [sum(_phases(row).values()) for row in steps]

    def bars(axes: Axes, units: Sequence[float]) -> None:
        parts = {
            name: [
                _phases(row)[name] / unit
                for row, unit in zip(steps, units, strict=True)
            ]
            for name in PHASES
        }
        stacked_bars(axes, labels, parts, PHASES)
        legend_above(axes, len(PHASES))

    def absolute(axes: Axes) -> None:
        bars(axes, [1] * len(steps))
        write_beside(axes, sums, [text.time(time) for time in times])
        set_ticks(axes.xaxis, lambda value: text.time(value) if value else "0")

    def shares(axes: Axes) -> None:
        bars(axes, sums)
        axes.set_xlim(0, 1)
        set_ticks(axes.xaxis, lambda value: f"{value:.0%}")

    size = (HALF[0], height(len(steps)))
    tokens = tokens_of(steps[0])
    return [
        draw(
            "Time of a training step",
            f"The median of a training step{tokens}, divided into its phases.",
            absolute,
            size,
        ),
        draw(
            "Shares of a training step",
            f"The phases' shares of a training step{tokens}.",
            shares,
            size,
        ),
    ]


def optimizer(result: Result) -> list[Figure]:
    rows = [row for row in result.of("optimizer") if row.get("bytes_per_second")]
    if not rows:
        return []
    rates = [row["bytes_per_second"] for row in rows]
    # The best rate of the run follows from the share of any row.
    best = [row for row in rows if row.get("bandwidth_share")]

    def paint(axes: Axes) -> None:
        kinds = list(dict.fromkeys(row.words["kind"] for row in rows))
        for kind, colour in zip(kinds, COLOURS, strict=False):
            places = [i for i, row in enumerate(rows) if row.words["kind"] == kind]
            widths = [rates[place] for place in places]
            axes.barh(places, widths, 0.66, color=colour, label=kind)
        name_groups(axes, [row.words["model"] for row in rows])
        ends = list(rates)
        if best:
            peak = best[0]["bytes_per_second"] / best[0]["bandwidth_share"]
            axes.axvline(peak, color="black", linestyle="--", label="best measured")
            ends.append(peak)
        write_beside(axes, rates, [text.time(row.time_us) for row in rows])
        axes.set_xlim(0, max(ends) * 1.22)
        legend_above(axes, 3)
        set_ticks(axes.xaxis, lambda value: text.rate(value, "B/s") if value else "0")

    return [
        draw(
            "Rate and time of an AdamW step",
            "The bytes per second that an AdamW step moves at the least, beside the "
            "best rate measured on this device, and its time.",
            paint,
            (HALF[0], height(len(rows))),
        )
    ]
