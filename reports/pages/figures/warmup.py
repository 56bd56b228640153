# SPDX-License-Identifier: MIT
"""A plot of the effect of warm-up calls on a mean."""

from collections import defaultdict
from collections.abc import Sequence

from matplotlib.axes import Axes

from reports.pages.plotting.axes import legend_above, set_log_ticks, set_ticks_at
from reports.pages.plotting.figure import COLOURS, HALF, Figure, draw
from reports.pages.plotting.steps import at_one_shape, tokens_of
from reports.results import text
from reports.results.rows import Result, Row

MOST_CURVES = 6  # more are illegible in one plot


def _curves(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of each step by warm-up calls; of many steps, those like the first."""
    first = rows[0].words
    for key in ("mode", "precision"):
        if len({tuple(row.words.values()) for row in rows}) > MOST_CURVES:
            rows = [row for row in rows if row.words[key] == first[key]]
    curves: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["calls"]):
        words = row.words
        curves[f"{words['model']} {words['precision']} {words['mode']}"].append(row)
    return curves


def _scale(axes: Axes, ratios: Sequence[float]) -> None:
    """Makes the axis logarithmic if a cold start dwarfs the other values."""
    low = axes.get_ylim()[0]
    if max(ratios) > 3:
        axes.set_yscale("log")
        axes.set_ylim(bottom=min(ratios) / 2)
        set_log_ticks(axes.yaxis, text.significant)
    else:
        axes.set_ylim(bottom=max(0, low))


def warmup(result: Result) -> list[Figure]:
    rows = [row for row in at_one_shape(result.of("warmup")) if row.get("steady_us")]
    calls = sorted({int(row["calls"]) for row in rows})
    if len(calls) < 2:
        return []
    curves = _curves(rows)

    def paint(axes: Axes) -> None:
        axes.axhspan(0.95, 1.05, color=COLOURS[2], alpha=0.15, linewidth=0)
        axes.axhline(1, color=COLOURS[2], linestyle="--", label="steady state, ±5 %")
        for number, (name, curve) in enumerate(curves.items()):
            # Shifted, so that no error bar hides another.
            aside = 0.08 * (number - (len(curves) - 1) / 2)
            axes.errorbar(
                [calls.index(int(row["calls"])) + aside for row in curve],
                [row["mean_us"] / row["steady_us"] for row in curve],
                [row["stddev_us"] / row["steady_us"] for row in curve],
                marker="o",
                capsize=3,
                color=COLOURS[(0, 1, 3, 4, 5, 7)[number % MOST_CURVES]],
                label=name,
            )
        _scale(axes, [row["mean_us"] / row["steady_us"] for row in rows])
        set_ticks_at(
            axes.xaxis, range(len(calls)), lambda place: str(calls[int(place)])
        )
        axes.set_xlabel("warm-up calls")
        axes.set_ylabel("mean of 10 / steady state")
        legend_above(axes, 1 if len(curves) < 3 else 2)

    return [
        draw(
            "Mean of ten after a warm-up",
            f"The mean of ten timed steps{tokens_of(rows[0])} of a fresh process and "
            "their standard "
            "deviation, as multiples of the steady state, by the number of warm-up "
            "calls.",
            paint,
            (HALF[0], HALF[1] + 0.15 * len(curves)),
        )
    ]
