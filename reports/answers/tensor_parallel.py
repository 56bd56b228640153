# SPDX-License-Identifier: MIT
"""Steps of a model whose matrices several ranks share."""

from collections.abc import Callable

from reports.answers.cells import optional
from reports.answers.comparing import factor
from reports.answers.measured import counter_of, over
from reports.answers.shapes import case_text, number_of, without
from reports.results import text
from reports.results.rows import Result, Row

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


def ranks_text(row: Row) -> str:
    """E.g. "4 ranks", or "4 ranks, 2 replicas"."""
    ranks, replicas = number_of(row, "ranks") or 1, number_of(row, "data") or 1
    told = text.plural(ranks, "rank")
    return f"{told}, {text.plural(replicas, 'replica')}" if replicas > 1 else told


def _sentence(whole: Row, shared: Row) -> str:
    ratio = over(counter_of(shared, "p50_us"), counter_of(whole, "p50_us"))
    told = (
        f"Shared by {ranks_text(shared)}, a step of `{case_text(shared)}` takes "
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


def tensor_parallel(result: Result) -> tuple[str, text.Table] | None:
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
            f"{case_text(row)}, {ranks_text(row)}",
            *(optional(row, *column) for column in _COLUMNS.values()),
        ]
        for row in rows
    ]
    # The last setting of a run is the largest.
    return _sentence(*compared[-1]), text.Table(["step", *_COLUMNS], lines)
