# SPDX-License-Identifier: MIT
"""A page that compares predictions with published measurements."""

from collections.abc import Iterator
from pathlib import Path

from reports.pages.plotting.canvas import CLEAR_COLORS, WIDE, Figure
from reports.pages.plotting.lines import Plane, Series, draw_lines, logarithmic
from reports.results import text
from reports.results.text import Table
from tools.planner.validation import memory
from tools.planner.validation.cells import DATA
from tools.planner.validation.judged import Comparison

PAGE, PLOT = (DATA / f"predictions.{suffix}" for suffix in ("md", "svg"))
_OPENING = f"""\
# Predicted and measured

These predictions need no GPU: they come from dry runs, recipes and rates of kernels.
Nothing is fitted to a step. `tools/validate page` writes this page from the tables of
this folder; `tools/validate memory` and `tools/validate time` take other files with the
same columns. An interval of a time should contain nine in ten measurements; of bytes it
is {text.percent(memory.EXACT)} on either side, for small tensors that no row counts."""


def scatter(times: Comparison) -> Figure:
    """Plots predicted over measured time, by device."""
    points: dict[str, list[tuple[float, float]]] = {}
    for one in times.distinct():
        if one.measured and one.ratio:
            points.setdefault(one.on, []).append((one.measured, one.ratio))
    every = [point for of_device in points.values() for point in of_device]
    plane = Plane(
        logarithmic([us for us, _ in every]),
        logarithmic([ratio for _, ratio in every], base=2),
        text.time,
        lambda ratio: f"{ratio:g}",
        x_label="measured time of a step",
        width=WIDE,
    )
    series = {
        " right": Series("#999999", [(us, 1.0) for us in (plane.x.low, plane.x.high)])
    }
    for place, (device, dots) in enumerate(sorted(points.items())):
        series[device] = Series(CLEAR_COLORS[place % len(CLEAR_COLORS)], (), dots)
    within = sum(0.9 <= ratio <= 1.1 for _, ratio in every)
    said = f"{within} of {len(every)} predictions are within 10 %."
    return draw_lines("Predicted over measured time of a step", said, plane, series)


def headlines(sizes: Comparison, times: Comparison) -> Iterator[str]:
    """Yields the main results as sentences."""
    of_kind = sizes.summary()
    for what, name in (
        ("static", "weights, gradients and optimizer"),
        ("peak", "peaks"),
    ):
        one = of_kind[what]
        yield (
            f"Memory, {name}: mean absolute error "
            f"{text.percent(one['mean_absolute_error'])} of {one['points']:.0f}, "
            f"{text.percent(one['within_interval'])} within "
            f"{text.percent(memory.EXACT)}"
        )
    one = times.summary()["all"]
    yield (
        f"Time of a step: median absolute error "
        f"{text.percent(one['median_absolute_error'])}, mean "
        f"{text.percent(one['mean_absolute_error'])} of {one['points']:.0f}; one "
        f"utilization per device, fitted to them, "
        f"{text.percent(one['by_one_utilization'])}"
    )


def page(sizes: Comparison, times: Comparison) -> dict[Path, str]:
    """Returns the texts of the page and its plot, by path. The page counts the points
    without a predicted size or time."""
    lacking = [
        [of, *reason]
        for of, found in (("memory", sizes), ("time", times))
        for reason in found.reasons()
    ]
    figure = scatter(times)
    parts = [
        _OPENING,
        "\n".join(f"- {sentence}." for sentence in headlines(sizes, times)),
        f"![{figure.title}]({PLOT.name})\n\n{figure.description}",
        "## Time, by GPU and by source",
        times.summary_table().markdown(),
        "## Memory, by kind of bytes",
        sizes.summary_table().markdown(),
        "## Time of each step",
        times.table().markdown(),
        "## Memory of each job",
        sizes.table().markdown(),
        "## What no job expresses",
        Table(("of", "lacks", "points"), lacking).markdown(),
    ]
    return {PAGE: "\n\n".join(parts) + "\n", PLOT: figure.document() + "\n"}
