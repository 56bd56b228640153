# SPDX-License-Identifier: MIT
"""What the fused implementation of a step would buy: all of its kernels at once."""

from collections.abc import Iterator

from reports.advice import attention
from reports.advice.arithmetic import saved_bytes
from reports.advice.kernels import FUSED, of_step
from reports.advice.line import Check, Line, largest
from reports.advice.rates import Rate
from reports.advice.run import TRAINING, Run, Step, shape_of
from reports.answers.against import baselines
from reports.answers.measured import Measured, exactly, minus, time_of, total
from reports.experiments.implementations import IMPLEMENTATION
from reports.results.rows import Row

# Steps in which it saves as much: their optimizer is the same.
_MODES = (TRAINING, "forward_backward")
_NAME = "fused"


def _pairs(run: Run, step: Step) -> list[tuple[Row, Row]]:
    """The step in the textbook's implementation and in this one."""
    found = baselines(run.of("implementations"), IMPLEMENTATION, _NAME)
    return [
        (plain, fused)
        for plain, fused in found
        if shape_of(plain, "mode") == shape_of(step.whole, "mode")
        and plain.words.get("mode") in _MODES
    ]


def _checks(plain: Row, fused: Row, predicted: Measured) -> Iterator[Check]:
    measured = minus(time_of(plain), time_of(fused))
    yield Check(plain.name, fused.name, predicted, measured)
    dry = saved_bytes(plain, fused, "predicted_peak_bytes")
    peak = saved_bytes(plain, fused, "peak_bytes")
    if dry and peak is not None:
        gains = exactly(dry), exactly(peak)
        yield Check(plain.name, fused.name, *gains, in_bytes=True)


def _line(run: Run, step: Step, copy: Rate) -> Line | None:
    # Flash attention has the softmax.
    found = [of_step(step, what, copy) for what in FUSED if what != "softmax"]
    found.append(attention.of_step(run, step))
    parts = [line for line in found if line]
    if len(parts) < len(found):  # it would be told too little of
        return None
    saved, pairs = total([part.saved_us for part in parts]), _pairs(run, step)
    steps = [pair for pair in pairs if pair[0].words["mode"] == TRAINING]
    return Line(
        change=f"{IMPLEMENTATION.word}={_NAME}",
        where=step.name,
        saved_us=saved,
        of_us=step.whole.time_us,
        assumption=f"{', '.join(part.change for part in parts)} at once",
        rows=tuple(dict.fromkeys(row for part in parts for row in part.rows)),
        saved_bytes=saved_bytes(*steps[0], "predicted_peak_bytes") if steps else None,
        checks=tuple(check for pair in pairs for check in _checks(*pair, saved)),
    )


def fused_implementation(run: Run) -> Iterator[Line]:
    copy = run.copy
    if copy is None:
        return
    found = [_line(run, step, copy) for step in run.train_steps]
    yield from largest([line for line in found if line])
