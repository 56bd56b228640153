# SPDX-License-Identifier: MIT
"""What a larger batch would buy: what a step takes whatever its tokens."""

import math
from collections.abc import Iterator
from itertools import pairwise

from reports.advice.line import Check, Line, largest
from reports.advice.run import Run, shape_of
from reports.answers.measured import (
    Measured,
    counter_of,
    minus,
    time_of,
    times,
    total,
)
from reports.answers.shapes import step_text
from reports.results import text
from reports.results.rows import Row

# A step is bound by its tokens once all else takes no more of it.
_FIXED_SHARE = 0.05


def _fixed(run: Run, step: Row) -> tuple[Measured, tuple[str, ...]]:
    """The optimizer, and on a GPU the time in which it waits for the host."""
    gaps = [
        row
        for divided in run.train_steps
        if shape_of(divided.whole) == shape_of(step)
        for row in divided.of("gap")
    ]
    parts = [counter_of(step, "optimizer_us"), *(time_of(row) for row in gaps)]
    return total(parts), (step.name, *(row.name for row in gaps))


def _saved(fixed: Measured, factor: float) -> Measured:
    """By one step of `factor` times the batch, per step that it replaces."""
    return times(fixed, 1 - 1 / factor)


def _checks(run: Run, rows: list[Row]) -> Iterator[Check]:
    """Each step and the next larger batch of it, whichever experiment timed them."""
    batches: dict[tuple[str, ...], dict[float, Row]] = {}
    for row in rows:
        if row.get("batch"):
            batches.setdefault(shape_of(row, "batch"), {}).setdefault(row["batch"], row)
    for sizes in batches.values():
        ordered = sorted(sizes)
        for small, large in pairwise(ordered):
            factor = large / small
            fixed, _ = _fixed(run, sizes[small])
            measured = minus(
                time_of(sizes[small]), times(time_of(sizes[large]), 1 / factor)
            )
            names = sizes[small].name, sizes[large].name
            yield Check(*names, _saved(fixed, factor), measured)


def _line(run: Run, row: Row, checks: tuple[Check, ...]) -> Line | None:
    fixed, rows = _fixed(run, row)
    tokens = row.time_us - fixed.value
    if tokens <= 0:
        return None
    # So that fixed / (fixed + factor * tokens) is the share.
    factor = math.ceil(fixed.value * (1 - _FIXED_SHARE) / (_FIXED_SHARE * tokens))
    if factor < 2:
        return None
    memory = run.memory_row(row)
    kept = memory.get("predicted_saved_bytes") if memory else None
    batch = int(row.get("batch") or 1)
    return Line(
        change="larger batch",
        where=step_text(row),
        saved_us=_saved(fixed, factor),
        of_us=row.time_us,
        saved_bytes=None if kept is None else -kept * (factor - 1),
        assumption=f"batch {batch * factor} replaces {factor} steps of {batch}; "
        "optimizer and gaps take as long as before, "
        f"{text.percent(_FIXED_SHARE)} of it then; all else grows with the batch",
        rows=(*rows, memory.name) if memory else rows,
        checks=checks,
    )


def larger_batch(run: Run) -> Iterator[Line]:
    rows = [
        row
        for row in run.timed_steps()
        if row.get("optimizer_us") and "ranks" not in row.counters
    ]
    checks = tuple(_checks(run, rows))
    yield from largest([line for row in rows if (line := _line(run, row, checks))])
