# SPDX-License-Identifier: MIT
"""Optimizers whose state is divided between ranks."""

from collections import defaultdict
from collections.abc import Callable

from reports.answers.cells import optional
from reports.answers.comparing import factor
from reports.answers.measured import Measured, counter_of, over
from reports.answers.shapes import number_of, without
from reports.results import text
from reports.results.rows import Result, Row

_SHARDED_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "time": ("p50_us", text.time),
    "optimizer": ("optimizer_us", text.time),
    "communication": ("communication_us", text.time),
    "peak of set-up": ("init_peak_bytes", text.size),
    "before step": ("before_step_peak_bytes", text.size),
    "of step": ("step_peak_bytes", text.size),
    "peak": ("peak_bytes", text.size),
    "predicted": ("predicted_peak_bytes", text.size),
}


def _ranks_and_shape(row: Row) -> str:
    ranks, batch, seq = (number_of(row, key) for key in ("ranks", "batch", "seq"))
    return f"{ranks} ranks, {batch} x {seq}"


def _ratio(shard: Row, whole: Row, counter: str) -> Measured:
    return over(counter_of(shard, counter), counter_of(whole, counter))


def _phases_sentence(shard: Row, whole: Row) -> str:
    """The update and the exchange of gradients and parameters, if both have them."""
    parts = [
        f"{name} takes {factor(_ratio(shard, whole, counter), 'as long')}"
        for name, counter in (
            ("the update", "optimizer_us"),
            ("the exchange", "communication_us"),
        )
        if whole.get(counter) and shard.get(counter)
    ]
    return f". Of it, {' and '.join(parts)}" if parts else ""


def _sharded_sentence(whole: Row, shard: Row) -> str:
    time = factor(_ratio(shard, whole, "p50_us"), "the time of replicating it")
    sentence = (
        f"Sharding the optimizer of `{shard.words['model']}` over "
        f"{_ranks_and_shape(shard)}, takes {time}"
    )
    if whole.get("peak_bytes") and shard.get("peak_bytes"):
        sentence += (
            f" and {text.percent(shard['peak_bytes'] / whole['peak_bytes'])} of the "
            f"peak memory, {text.size(shard['peak_bytes'])} instead of "
            f"{text.size(whole['peak_bytes'])}"
        )
    return sentence + _phases_sentence(shard, whole)


def sharded_optimizer(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("sharded_optimizer")
    settings: dict[tuple[tuple[str, str], ...], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        settings[without(row, "sharding")][row.words["sharding"]] = row
    compared = [
        by_kind
        for by_kind in settings.values()
        if {"replicated", "sharded"} <= set(by_kind)
    ]
    if not compared:
        return None
    # The last setting of a run is the largest.
    sentence = _sharded_sentence(compared[-1]["replicated"], compared[-1]["sharded"])
    lines = [
        [
            f"{row.words['sharding']}, {row.words['model']}, {_ranks_and_shape(row)}",
            *(optional(row, *column) for column in _SHARDED_COLUMNS.values()),
        ]
        for row in rows
    ]
    return f"{sentence}.", text.Table(["optimizer", *_SHARDED_COLUMNS], lines)
