# SPDX-License-Identifier: MIT
"""Predicted and measured times of steps."""

from collections.abc import Mapping
from typing import Any

from tools.planner.recipes import Plan
from tools.planner.timing.step import TimedJob, head_share, step_time
from tools.planner.validation.judged import UNKNOWN, Comparison, Judged
from tools.planner.validation.steps import Step

MISS = 0.25
_ALLOWED = 0.15  # mean absolute error
Row = Mapping[str, Any]


def _flops(job: TimedJob, row: Row, recomputes: bool) -> float:
    """FLOPs per GPU and step, averaged over a pipeline's stages."""
    others = 1 - 1 / job.pipeline
    flops = row["flops"] * (1 - head_share(row) * others)
    if recomputes:  # a third of a step's FLOPs are of its forward pass
        of_blocks = row["flops"] * (1 - head_share(row)) / 3
        flops += row["recomputed_flops"] + job.recomputed * of_blocks
    return float(job.micro_batches * flops)


def _measured_us(step: Step, row: Row) -> float:
    job = step.job
    if step.unit == "s":
        return 1e6 * step.value
    if step.unit == "tok/s":
        tokens = job.batch * job.seq * job.micro_batches
        return 1e6 * tokens / (step.value * job.tensor * job.pipeline)
    flops = _flops(job, row, recomputes="HFU" in step.unit)
    peak = step.device.peak("mfu") if step.unit == "MFU" else 1
    return 1e6 * flops / (peak * step.value)


def judge(step: Step, plan: Plan) -> list[Judged]:
    """Predicts a step, within a 90 % interval. Raises Lacks if the program refuses its
    job, and ValueError if the device lacks a rate."""
    row = plan(step.job)
    measured_us = _measured_us(step, row)
    found = step_time(step.device, step.job, plan)
    is_miss = abs(found.us / measured_us - 1) > MISS
    generation = step.device.name.partition("-")[0].upper()
    judged = Judged(
        name=step.name,
        on=step.device.name,
        what="time",
        predicted=found.us,
        low=found.low_us,
        high=found.high_us,
        measured=measured_us,
        cause=(step.cause or UNKNOWN) if is_miss else "",
        assumed="",
        groups=tuple(filter(None, ("all", generation, step.source))),
        details={"gpu": step.gpu, "parts_us": dict(found.parts)},
        flops=_flops(step.job, row, recomputes=False),
    )
    return [judged]


def passes(found: Comparison) -> bool:
    """Whether the mean absolute error is small enough; without steps it is not."""
    every = found.summary().get("all")
    return every is not None and every["mean_absolute_error"] <= _ALLOWED
