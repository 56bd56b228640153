# SPDX-License-Identifier: MIT
"""benchmarks/fsdp.cc: what ranks save by dividing parameters, gradients and optimizer,
what that costs, and plots of time and memory."""

from collections import defaultdict
from collections.abc import Callable

from matplotlib.axes import Axes

from reports.answers.cells import hidden, with_interval
from reports.answers.comparing import factor
from reports.answers.measured import counter_of, over
from reports.answers.shapes import number_of
from reports.pages.figures.parallel import (
    by_ranks,
    memory_bar,
    per_setting,
    side_by_side,
    time_bar,
)
from reports.pages.plotting.axes import set_binary_ticks, set_ticks_at
from reports.pages.plotting.bars import height_of
from reports.pages.plotting.figure import COLOURS, Figure, draw
from reports.results import text
from reports.results.rows import Result, Row

__all__ = ["PLACE", "answer", "figures"]

PLACE = 145
_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "time": ("p50_us", text.time),
    "exposed": ("exposed_us", text.time),
    "hidden": ("overlap_share", hidden),
    "sent": ("sent_bytes", text.size),
    "computed": ("predicted_sent_bytes", text.size),
    "state": ("state_bytes", text.size),
    "peak": ("peak_bytes", text.size),
    "predicted": ("predicted_peak_bytes", text.size),
}


def _variant(row: Row) -> str:
    """E.g. "everything, resharded, prefetched"."""
    words = [row.words["sharded"]]
    if row.words["sharded"] == "everything":
        words += ["resharded"] if row["reshard"] else []
        words += ["prefetched"] if row["prefetch"] else []
    return ", ".join(words)


def _setting(row: Row) -> str:
    ranks, batch, seq = (number_of(row, key) for key in ("ranks", "batch", "seq"))
    model, precision = row.words["model"], row.words["precision"]
    return f"{model} {precision}, {ranks} ranks, {batch} x {seq}"


def _sentence(setting: str, rows: list[Row]) -> str:
    """The least peak beside that of replicas, and the times beside that of a sharded
    optimizer; "" if one of the rows is missing."""
    found = {row.words["sharded"]: row for row in rows}
    sharded = [row for row in rows if row.words["sharded"] == "everything"]
    if not {"nothing", "optimizer", "everything"} <= found.keys():
        return ""
    if not all(row.get("peak_bytes") for row in rows):
        return ""
    least = min(sharded, key=lambda row: row["peak_bytes"])
    times = "; ".join(
        f"`{_variant(row)}` takes "
        + factor(
            over(counter_of(row, "p50_us"), counter_of(found["optimizer"], "p50_us")),
            "the time of a sharded optimizer",
        )
        for row in sharded
    )
    return (
        f"With {setting} `{_variant(least)}` has the lowest peak, "
        f"{text.size(least['peak_bytes'])} per rank instead of "
        f"{text.size(found['nothing']['peak_bytes'])}; {times}."
    )


def answer(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("fsdp")
    settings: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        settings[_setting(row)].append(row)
    told = [sentence for each in settings.items() if (sentence := _sentence(*each))]
    if not told:
        return None
    lines = [
        [
            f"{_setting(row)}: {_variant(row)}",
            *(with_interval(row, *column) for column in _COLUMNS.values()),
        ]
        for row in rows
    ]
    # The last setting of a run is the largest.
    return told[-1], text.Table(["ranks", *_COLUMNS], lines)


def _bars(setting: str, rows: list[Row]) -> Figure:
    members = by_ranks(rows)
    times = [time_bar(_variant(row), group, row) for group, row in members]
    sizes = [memory_bar(*member) for member in members]
    summary = ", ".join(
        f"{time.label} ({time.group}) {time.value} and {size.value}"
        for time, size in zip(times, sizes, strict=True)
    )
    return draw(
        f"Fully sharded: {setting}",
        f"{summary}.",
        lambda axes: side_by_side(axes, times, sizes),
        (7.2, height_of(times, 6) + 0.3),
    )


def _over_ranks(setting: str, rows: list[Row]) -> Figure:
    lines: dict[str, dict[float, Row]] = defaultdict(dict)
    for _, row in by_ranks(rows):
        lines[_variant(row)][row["ranks"]] = row
    ranks = sorted({row["ranks"] for row in rows})

    def paint(axes: Axes) -> None:
        for i, (name, points) in enumerate(lines.items()):
            colour = COLOURS[i % len(COLOURS)]
            peaks = [row["peak_bytes"] for row in points.values()]
            axes.plot(list(points), peaks, "o", color=colour, gid=f"peaks-{i}")
            predicted = {
                n: row.get("predicted_peak_bytes") for n, row in points.items()
            }
            known = {n: peak for n, peak in predicted.items() if peak}
            axes.plot(list(known), list(known.values()), color=colour, label=name)
        set_ticks_at(axes.xaxis, ranks, lambda n: f"{n:g}")
        axes.set_yscale("log", base=2)
        set_binary_ticks(axes.yaxis, text.size)
        axes.set_xlabel("ranks; points: measured, lines: predicted")
        axes.set_ylabel("peak memory of a rank")
        axes.legend(fontsize=8)

    ends = ", ".join(
        f"{name} {text.size(points[max(points)]['peak_bytes'])}"
        for name, points in lines.items()
    )
    return draw(
        f"Peak of a rank over ranks: {setting}",
        f"Measured and predicted peak memory. With the most ranks: {ends}.",
        paint,
        (7.2, 4.0),
    )


def figures(result: Result) -> list[Figure]:
    """A figure per setting with time and memory of each variant; where there are
    several numbers of ranks, one with the peak over them."""
    rows = result.of("fsdp")
    measured = [row for row in rows if row.get("peak_bytes")]
    several = len({row["ranks"] for row in measured}) > 1
    return [
        *(per_setting(rows, _bars) if rows else []),
        *(per_setting(measured, _over_ranks) if several else []),
    ]
