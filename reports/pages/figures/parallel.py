# SPDX-License-Identifier: MIT
"""Plots of data-parallel training and of sharded optimizers."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from matplotlib.axes import Axes

from reports.answers.comparing import least_text
from reports.answers.measured import Measured, counter_of
from reports.answers.parallel import WITHOUT_EXCHANGE
from reports.pages.plotting.bars import (
    Bar,
    Look,
    Scale,
    draw_bars,
    height_of,
    legend_below,
)
from reports.pages.plotting.figure import COLOURS, Figure, draw
from reports.results import text
from reports.results.rows import Result, Row

MOST_SETTINGS = 6  # figures of an experiment; the last settings are the largest
LOOKS = {
    "step alone": Look(COLOURS[0]),
    "communication it hides": Look(COLOURS[0], "////"),
    "exposed communication": Look(COLOURS[3]),
    "step": Look("#999999"),
    "forward, loss, backward": Look(COLOURS[0]),
    "communication": Look(COLOURS[3]),
    "optimizer": Look(COLOURS[1]),
    "optimizer state": Look(COLOURS[1]),
    "everything else": Look(COLOURS[5]),
}


def _settings(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """By name of the work, the rows that do the same work."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        work = " ".join(
            row.words[key] for key in ("model", "precision") if key in row.words
        )
        # One process instead of several has the batches of all of them.
        batch = int(row["batch"]) // int(row.get("instead_of") or 1)
        found[f"{work}, {batch} x {int(row['seq'])}"].append(row)
    return found


def per_setting(
    rows: Sequence[Row], figure: Callable[[str, list[Row]], Figure]
) -> list[Figure]:
    """A figure for each of the last MOST_SETTINGS settings.

    The description of the first figure gives the number of further settings.
    """
    settings = list(_settings(rows).items())
    figures = [figure(*setting) for setting in settings[-MOST_SETTINGS:]]
    beyond = len(settings) - len(figures)
    if beyond:
        description = (
            f"{figures[0].description} {beyond} smaller settings are not drawn."
        )
        figures[0] = replace(figures[0], description=description)
    return figures


def by_ranks(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    """The rows ordered by number of ranks, each with the name of its group."""

    def ranks(row: Row) -> int:
        return int(row.get("as_one_of") or row.get("instead_of") or row["ranks"])

    return [(f"{ranks(row)} ranks", row) for row in sorted(rows, key=ranks)]


def _ddp_parts(row: Row) -> dict[str, float]:
    """The parts that add up to the step; hidden communication overlaps the step."""
    if row.words["strategy"] in ("alone", "side_by_side"):
        return {"step alone": row["p50_us"]}
    exposed = row.get("exposed_us")
    if exposed is None:
        return {"step": row["p50_us"]}
    # Noise can make the step with communication the faster one.
    exposed = min(max(exposed, 0.0), row["p50_us"])
    alone = row["p50_us"] - exposed
    hidden = min(max((row.get("collectives_us") or 0) - exposed, 0.0), alone)
    return {
        "step alone": alone - hidden,
        "communication it hides": hidden,
        "exposed communication": exposed,
    }


def _ddp_bar(group: str, row: Row) -> Bar:
    bucket, predicted_bucket = row.get("bucket_mb"), row.get("bucket_bytes")
    label = row.words["strategy"]
    if bucket is not None:
        label += f" {text.significant(bucket)} MiB"
    if predicted_bucket is not None:
        label += f" {text.size(predicted_bucket)}"
    predicted = row.get("predicted_us")
    return Bar(label, _ddp_parts(row), text.time(row["p50_us"]), predicted, group)


def _fastest(rows: Sequence[Row]) -> str:
    """A sentence for each number of ranks about its fastest strategy."""
    times: dict[str, dict[str, Measured]] = defaultdict(dict)
    for ranks, row in by_ranks(rows):
        if row.words["strategy"] not in WITHOUT_EXCHANGE:
            times[ranks][_ddp_bar("", row).label] = counter_of(row, "p50_us")
    sentences = [
        f"With {ranks}: {least_text(strategies, 'fastest')}."
        for ranks, strategies in times.items()
    ]
    opening = "The step alone and the communication exposed beside it."
    return " ".join([opening, *sentences])


def _ddp_figure(setting: str, rows: list[Row]) -> Figure:
    bars = [_ddp_bar(*member) for member in by_ranks(rows)]

    def paint(axes: Axes) -> None:
        draw_bars(axes, bars, LOOKS, Scale(text.time, mark_name="predicted"))
        legend_below(axes, 4, list(LOOKS))

    size = (7.2, height_of(bars, 4, 4))
    return draw(f"Data parallelism: {setting}", _fastest(rows), paint, size)


def ddp(result: Result) -> list[Figure]:
    """A figure per setting: for each strategy, the step and its communication."""
    rows = result.of("ddp")
    if all(row.words["strategy"] in WITHOUT_EXCHANGE for row in rows):
        return []
    return per_setting(rows, _ddp_figure)


def time_bar(label: str, group: str, row: Row) -> Bar:
    communication = row.get("communication_us") or 0.0
    optimizer = row.get("optimizer_us") or 0.0
    rest = max(row["p50_us"] - communication - optimizer, 0.0)
    parts = {
        "forward, loss, backward": rest,
        "communication": communication,
        "optimizer": optimizer,
    }
    return Bar(label, parts, text.time(row["p50_us"]), None, group)


def memory_bar(group: str, row: Row) -> Bar:
    peak, state = row.get("peak_bytes") or 0.0, row.get("state_bytes") or 0.0
    parts = {"optimizer state": state, "everything else": max(peak - state, 0.0)}
    predicted = row.get("predicted_peak_bytes")
    return Bar("", parts, text.size(peak), predicted, group)


def side_by_side(axes: Axes, times: list[Bar], sizes: list[Bar]) -> None:
    grid = axes.figure.add_gridspec(1, 2)
    axes.set_subplotspec(grid[0])
    right = axes.figure.add_subplot(grid[1])
    draw_bars(axes, times, LOOKS, Scale(text.time))
    axes.set_title("time of a step", fontsize=10)
    draw_bars(right, sizes, LOOKS, Scale(text.size, binary=True, mark_name="predicted"))
    right.set_title("peak memory of a rank", fontsize=10)
    right.set_yticklabels([])  # the labels on the left serve both
    for side in (axes, right):
        side.tick_params(axis="x", labelsize=8)
    legend_below(axes, 3)


def _sharded_figure(setting: str, rows: list[Row]) -> Figure:
    members = by_ranks(rows)
    times = [time_bar(row.words["sharding"], group, row) for group, row in members]
    sizes = [memory_bar(*member) for member in members]
    summary = ", ".join(
        f"{time.label} ({time.group}) {time.value} and {size.value}"
        for time, size in zip(times, sizes, strict=True)
    )
    return draw(
        f"Sharded optimizer: {setting}",
        f"{summary}.",
        lambda axes: side_by_side(axes, times, sizes),
        (7.2, height_of(times, 6) + 0.3),
    )


def sharded_optimizer(result: Result) -> list[Figure]:
    """A figure per setting: for each sharding, time (left) and memory (right)."""
    return per_setting(result.of("sharded_optimizer"), _sharded_figure)
