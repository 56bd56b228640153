# SPDX-License-Identifier: MIT
"""Other ways to run the same step: fused operations, a compiler, a CUDA graph."""

import math

from reports.answers.against import Axis, Choice, choices, compared, sentence, table
from reports.answers.cells import optional
from reports.answers.measured import minus, time_of
from reports.results import text
from reports.results.rows import Result, Row

IMPLEMENTATION = Axis("implementation", "textbook")
_RUNTIME = Axis("runtime", "eager")
LAUNCH = Axis("launch", "eager")


def implementations(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("implementations")
    found = compared(rows, IMPLEMENTATION)
    if not found:
        return None
    return sentence(found), table(choices(rows, IMPLEMENTATION))


def _worst(rows: list[Row], counter: str, what: str) -> str:
    """A sentence about the largest of the rows that have the counter."""
    known = [row for row in rows if row.get(counter) is not None]
    if not known:
        return ""
    worst = max(row[counter] for row in known)
    return f" {what} {text.significant(worst, 2)} on {text.plural(len(known), 'row')}."


def compiled(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("compiled")
    found = compared(rows, _RUNTIME)
    if not found:
        return None
    told = _worst(rows, "textbook_error", "The logits differ by at most")
    error = (
        "logits differ",
        lambda _, row: optional(
            row, "textbook_error", lambda value: text.significant(value, 2)
        ),
    )
    return sentence(found) + told, table(choices(rows, _RUNTIME), error)


def _paid_back(choice: Choice, row: Row) -> str:
    """After how many replays the recording has paid for itself."""
    recording = row.get("capture_us")
    if recording is None or choice.base is None:
        return "-"
    saved = minus(time_of(choice.base), time_of(row))
    if saved.low > 0:
        return str(math.ceil(recording / saved.value))
    return "never" if saved.high < 0 else "unknown"


def cuda_graph(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("cuda_graph")
    steps = compared([row for row in rows if "model" in row.words], LAUNCH)
    if not steps:
        return None
    told = _worst(
        rows, "replay_error", "A replay differs from an eager call by at most"
    )
    columns = (
        ("recorded in", lambda _, row: optional(row, "capture_us", text.time)),
        (
            "nodes",
            lambda _, row: optional(row, "nodes_per_step", lambda n: f"{n:.0f}"),
        ),
        ("pool", lambda _, row: optional(row, "pool_bytes", text.size)),
        ("replays to pay back", _paid_back),
    )
    return sentence(steps) + told, table(choices(rows, LAUNCH), *columns)
