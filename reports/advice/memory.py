# SPDX-License-Identifier: MIT
"""What would save memory: checkpointing. It costs time."""

from collections.abc import Iterator
from dataclasses import replace

from reports.advice.line import Check, Line
from reports.advice.run import TRAINING, Run
from reports.answers.against import Axis, baselines
from reports.answers.measured import Measured, minus, time_of, times
from reports.answers.shapes import step_text
from reports.results.rows import Row

_CHECKPOINT = Axis("checkpoint", "none")
_STATIC = (
    "predicted_parameter_bytes",
    "predicted_gradient_bytes",
    "predicted_optimizer_bytes",
)


def room(run: Run, step: Row) -> float | None:
    """The part of the peak that is neither parameters nor gradients nor optimizer
    state: all that a change of activations can save. None if the run does not tell."""
    row = run.memory_row(step)
    if row is None or any(row.get(key) is None for key in ("peak_bytes", *_STATIC)):
        return None
    return max(0.0, row["peak_bytes"] - sum(row[key] for key in _STATIC))


def _line(row: Row) -> Line | None:
    peak, again = row.get("checkpointed_peak_bytes"), row.get("checkpointed_flops")
    if not peak or not again or not row.get("predicted_peak_bytes"):
        return None
    return Line(
        change="checkpointing",
        where=step_text(row),
        saved_us=_cost(time_of(row), again / row["flops"]),
        of_us=row.time_us,
        saved_bytes=row["predicted_peak_bytes"] - peak,
        assumption="a block keeps its input alone and runs forward once more, at the "
        "rate of the whole step; the peak is that of a dry run",
        rows=(row.name,),
    )


def _cost(time: Measured, again: float) -> Measured:
    return times(time, -again)


def _checks(run: Run) -> Iterator[Check]:
    for step, row in baselines(run.of("checkpointing"), _CHECKPOINT, "every_1"):
        again = row.get("recomputed_flops")
        if again:
            predicted = _cost(time_of(step), again / row["flops"])
            measured = minus(time_of(step), time_of(row))
            yield Check(step.name, row.name, predicted, measured)


def checkpointing(run: Run) -> Iterator[Line]:
    lines = [line for row in run.of("memory", mode=TRAINING) if (line := _line(row))]
    best = max(lines, key=lambda line: line.saved_bytes or 0, default=None)
    if best and best.saved_bytes and best.saved_bytes > 0:
        yield replace(best, checks=tuple(_checks(run)))
