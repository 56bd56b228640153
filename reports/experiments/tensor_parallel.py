# SPDX-License-Identifier: MIT
"""benchmarks/tensor_parallel.cc: what it costs that ranks share a model's matrices, and
plots of time and memory."""

from collections.abc import Callable

from reports.answers.cells import with_interval
from reports.answers.comparing import factor
from reports.answers.measured import counter_of, over
from reports.answers.shapes import case_text, number_of, without
from reports.pages.figures.parallel import memory_bar, per_setting, side_by_side
from reports.pages.plotting.bars import Bar, height_of
from reports.pages.plotting.figure import Figure, draw
from reports.results import text
from reports.results.rows import Result, Row

__all__ = ["PLACE", "answer", "figures"]

PLACE = 147
_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "time": ("p50_us", text.time),
    "without exchange": ("alone_us", text.time),
    "exposed": ("exposed_us", text.time),
    "share": ("communication_share", text.percent),
    "sent per step": ("sent_bytes", text.size),
    "by formula": ("predicted_sent_bytes", text.size),
    "peak": ("peak_bytes", text.size),
    "predicted": ("predicted_peak_bytes", text.size),
}


def _ranks_text(row: Row) -> str:
    """E.g. "4 ranks", or "4 ranks, 2 replicas"."""
    ranks, replicas = number_of(row, "ranks") or 1, number_of(row, "data") or 1
    told = text.plural(ranks, "rank")
    return f"{told}, {text.plural(replicas, 'replica')}" if replicas > 1 else told


def _sentence(whole: Row, shared: Row) -> str:
    ratio = over(counter_of(shared, "p50_us"), counter_of(whole, "p50_us"))
    told = (
        f"Shared by {_ranks_text(shared)}, a step of `{case_text(shared)}` takes "
        f"{factor(ratio, 'the time of one process')}"
    )
    if whole.get("peak_bytes") and shared.get("peak_bytes"):
        told += (
            f" and {text.percent(shared['peak_bytes'] / whole['peak_bytes'])} of its "
            f"peak memory, {text.size(shared['peak_bytes'])} instead of "
            f"{text.size(whole['peak_bytes'])}"
        )
    if shared.get("sent_bytes") and shared.get("communication_share") is not None:
        share = counter_of(shared, "communication_share").text(text.percent)
        told += (
            f". A rank sends {text.size(shared['sent_bytes'])}, which takes {share} of "
            "the step"
        )
    return f"{told}."


def answer(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("tensor_parallel")
    alone = {
        without(row, "ranks", "data"): row
        for row in rows
        if number_of(row, "ranks") == 1
    }
    compared = [
        (alone[without(row, "ranks", "data")], row)
        for row in rows
        if number_of(row, "ranks") != 1
        and (number_of(row, "data") or 1) == 1
        and without(row, "ranks", "data") in alone
    ]
    if not compared:
        return None
    lines = [
        [
            f"{case_text(row)}, {_ranks_text(row)}",
            *(with_interval(row, *column) for column in _COLUMNS.values()),
        ]
        for row in rows
    ]
    # The last setting of a run is the largest.
    return _sentence(*compared[-1]), text.Table(["step", *_COLUMNS], lines)


def _time_bar(row: Row) -> Bar:
    """The parts that add up to the step; one process exchanges nothing."""
    exposed = min(max(row.get("exposed_us") or 0.0, 0.0), row["p50_us"])
    parts = {"step alone": row["p50_us"] - exposed}
    if exposed:
        parts["exposed communication"] = exposed
    return Bar(_ranks_text(row), parts, text.time(row["p50_us"]))


def _bars(setting: str, rows: list[Row]) -> Figure:
    rows = sorted(rows, key=lambda row: (row["ranks"], row.get("data") or 1))
    times = [_time_bar(row) for row in rows]
    sizes = [memory_bar("", row) for row in rows]
    summary = ", ".join(
        f"{time.label} {time.value} and {size.value}"
        for time, size in zip(times, sizes, strict=True)
    )
    return draw(
        f"Tensor parallelism: {setting}",
        f"{summary}.",
        lambda axes: side_by_side(axes, times, sizes),
        (7.2, height_of(times, 4) + 0.3),
    )


def figures(result: Result) -> list[Figure]:
    """A figure per setting: for each number of ranks, time (left), memory (right)."""
    rows = result.of("tensor_parallel")
    return per_setting(rows, _bars) if rows else []
