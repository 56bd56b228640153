# SPDX-License-Identifier: MIT
"""Training whose parameters, gradients and optimizer are divided between ranks."""

from collections import defaultdict
from collections.abc import Callable

from reports.answers.cells import optional
from reports.answers.comparing import factor
from reports.answers.measured import counter_of, over
from reports.answers.shapes import number_of
from reports.results import text
from reports.results.rows import Result, Row

_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "time": ("p50_us", text.time),
    "exposed": ("exposed_us", text.time),
    "hidden": ("overlap_share", text.percent),
    "sent": ("sent_bytes", text.size),
    "computed": ("predicted_sent_bytes", text.size),
    "state": ("state_bytes", text.size),
    "peak": ("peak_bytes", text.size),
    "predicted": ("predicted_peak_bytes", text.size),
}


def variant(row: Row) -> str:
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
        f"`{variant(row)}` takes "
        + factor(
            over(counter_of(row, "p50_us"), counter_of(found["optimizer"], "p50_us")),
            "the time of a sharded optimizer",
        )
        for row in sharded
    )
    return (
        f"With {setting} `{variant(least)}` has the lowest peak, "
        f"{text.size(least['peak_bytes'])} per rank instead of "
        f"{text.size(found['nothing']['peak_bytes'])}; {times}."
    )


def fsdp(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("fsdp")
    settings: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        settings[_setting(row)].append(row)
    told = [sentence for each in settings.items() if (sentence := _sentence(*each))]
    if not told:
        return None
    lines = [
        [
            f"{_setting(row)}: {variant(row)}",
            *(optional(row, *column) for column in _COLUMNS.values()),
        ]
        for row in rows
    ]
    # The last setting of a run is the largest.
    return told[-1], text.Table(["ranks", *_COLUMNS], lines)
