# SPDX-License-Identifier: MIT
"""What would save memory: checkpointing. It costs time."""

from collections.abc import Iterator

from reports.advice.line import Line
from reports.advice.run import TRAINING, Run
from reports.answers.measured import counter_of, times
from reports.answers.shapes import step_text
from reports.results.rows import Row

_STATIC = (
    "predicted_parameter_bytes",
    "predicted_gradient_bytes",
    "predicted_optimizer_bytes",
)


def _room(row: Row) -> float | None:
    if row.get("peak_bytes") is None or any(row.get(key) is None for key in _STATIC):
        return None
    return max(0.0, row["peak_bytes"] - sum(row[key] for key in _STATIC))


def room(run: Run, step: Row) -> float | None:
    """The part of the peak that is neither parameters nor gradients nor optimizer
    state: all that a change of activations can save. None if the run does not tell."""
    row = run.memory_row(step)
    return _room(row) if row else None


def _line(row: Row, layers: int) -> Line | None:
    saved, residual = row.get("predicted_saved_bytes"), row.get("residual_bytes")
    most = _room(row)
    if not saved or residual is None or not most or layers < 2:
        return None
    if not row.get("forward_us"):
        return None
    kept = saved / layers + layers * residual
    return Line(
        change="checkpointing",
        where=step_text(row),
        saved_us=times(counter_of(row, "forward_us"), -1),
        of_us=row.time_us,
        saved_bytes=min(most, saved - kept),
        assumption="a block keeps its input alone and runs forward once more; all else "
        "is kept of one block at a time",
        rows=(row.name,),
    )


def checkpointing(run: Run) -> Iterator[Line]:
    lines = [
        line
        for row in run.of("memory", mode=TRAINING)
        if (line := _line(row, run.layers_of(row.words.get("model", ""))))
    ]
    best = max(lines, key=lambda line: line.saved_bytes or 0, default=None)
    if best and best.saved_bytes and best.saved_bytes > 0:
        yield best
