# SPDX-License-Identifier: MIT
"""Other ways to run the same work: fused operations, a compiler, a CUDA graph."""

import math
from collections.abc import Callable

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


def _cell(counter: str, print_: Callable[[float], str]) -> Callable[[Choice, Row], str]:
    return lambda _, row: optional(row, counter, print_)


def compiled(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("compiled")
    found = compared(rows, _RUNTIME)
    if not found:
        return None
    told = _worst(
        rows, "textbook_error", "What is compiled differs from eager by at most"
    )
    columns = (
        ("differs", _cell("textbook_error", lambda value: text.significant(value, 2))),
        ("compiled in", _cell("compile_seconds", lambda s: text.time(1e6 * s))),
    )
    return sentence(found) + told, table(choices(rows, _RUNTIME), *columns)


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
        ("recorded in", _cell("capture_us", text.time)),
        ("nodes", _cell("nodes_per_step", lambda n: f"{n:.0f}")),
        ("pool", _cell("pool_bytes", text.size)),
        ("replays to pay back", _paid_back),
    )
    return sentence(steps) + told, table(choices(rows, LAUNCH), *columns)
