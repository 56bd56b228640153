# SPDX-License-Identifier: MIT
"""Predicted and measured times of steps."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from reports.results import text
from reports.results.text import Table
from tools.planner.timing.step import Parts, TimedJob, head_share, step_time
from tools.planner.validation import cells
from tools.planner.validation.cells import Lacking
from tools.planner.validation.memory import UNKNOWN
from tools.planner.validation.steps import Step

MISS = 0.25
_ALLOWED = 0.15  # mean absolute error
Row = Mapping[str, Any]
Ask = Callable[[TimedJob], Row]


@dataclass(frozen=True)
class Judged:
    name: str
    gpu: str
    device: str
    measured_us: float
    predicted_us: float
    low_us: float  # the ends of the 90 % interval
    high_us: float
    parts_us: Parts
    ratio: float  # predicted over measured
    cause: str  # of a miss, if it is known
    source: str
    flops: float  # per GPU and step

    @property
    def is_within(self) -> bool:
        return self.low_us <= self.measured_us <= self.high_us


def _flops(job: TimedJob, row: Row, recomputes: bool) -> float:
    """FLOPs per GPU and step, averaged over a pipeline's stages."""
    others = 1 - 1 / job.pipeline
    flops = row["flops"] * (1 - head_share(row) * others)
    recomputed = row["recomputed_flops"] if recomputes else 0
    return float(job.micro_batches * (flops + recomputed))


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


def judge(step: Step, ask: Ask) -> Judged:
    """Predicts a step. Raises Lacks if the program refuses its job, and ValueError if
    the device lacks a rate."""
    row = ask(step.job)
    measured_us = _measured_us(step, row)
    found = step_time(step.device, step.job, ask)
    ratio = found.us / measured_us
    return Judged(
        name=step.name,
        gpu=step.gpu,
        device=step.device.name,
        measured_us=measured_us,
        predicted_us=found.us,
        low_us=found.low_us,
        high_us=found.high_us,
        parts_us=found.parts,
        ratio=ratio,
        cause=step.cause if _is_miss(ratio) else "",
        source=step.source,
        flops=_flops(step.job, row, recomputes=False),
    )


def _is_miss(ratio: float) -> bool:
    return abs(ratio - 1) > MISS


def _one_utilization(judged: Sequence[Judged]) -> float:
    """The mean absolute error of a baseline that is fitted to these very steps: a
    device reaches the same share of its peak in all of them."""
    rates: dict[str, list[float]] = defaultdict(list)
    for one in judged:
        rates[one.device].append(one.flops / one.measured_us)
    return fmean(
        abs(one.flops / median(rates[one.device]) / one.measured_us - 1)
        for one in judged
    )


def _errors(judged: Sequence[Judged]) -> dict[str, float]:
    errors = [one.ratio - 1 for one in judged]
    return {
        "points": len(errors),
        "mean_absolute_error": fmean(map(abs, errors)),
        "median_absolute_error": median(map(abs, errors)),
        "mean_error": fmean(errors),
        "within_interval": fmean(one.is_within for one in judged),
        "by_one_utilization": _one_utilization(judged),
    }


def passes(judged: Sequence[Judged]) -> bool:
    """Whether the mean absolute error is small enough; without steps it is not."""
    return bool(judged) and _errors(judged)["mean_absolute_error"] <= _ALLOWED


def summary(judged: Sequence[Judged]) -> dict[str, dict[str, float]]:
    """Errors of all, by GPU and by source; also without the misses of known cause."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        generation = one.device.partition("-")[0].upper()
        for group in filter(None, ("all", generation, one.source)):
            groups[group].append(one)
        if not one.cause:
            for group in ("all", generation):
                groups[f"{group} without known causes"].append(one)
    return {
        group: _errors(found)
        for group, found in groups.items()
        if " without" not in group or found != groups[group.partition(" without")[0]]
    }


def as_json(judged: Sequence[Judged], lacking: Sequence[Lacking]) -> str:
    steps = [asdict(one) for one in judged]
    for step in steps:
        del step["source"], step["flops"]
    return cells.as_json(lacking, summary=summary(judged), steps=steps)


def table(judged: Sequence[Judged]) -> Table:
    head = ("step", "device", "measured", "predicted", "90 %", "ratio")
    return Table((*head, "cause of a miss"), list(_lines(judged)))


def _lines(judged: Sequence[Judged]) -> Iterator[list[str]]:
    for one in judged:
        ends = map(text.time, (one.low_us, one.high_us))
        yield [
            *(one.name, one.device, text.time(one.measured_us)),
            *(text.time(one.predicted_us), " to ".join(ends), f"{one.ratio:.3f}"),
            one.cause or (UNKNOWN if _is_miss(one.ratio) else ""),
        ]


def summary_table(judged: Sequence[Judged]) -> Table:
    """The last column is the mean absolute error of one utilization per device."""
    lines = [
        [group, f"{one['points']:.0f}", *map(text.percent, list(one.values())[1:])]
        for group, one in summary(judged).items()
    ]
    head = ("steps of", "number", "absolute error", "median", "mean error")
    return Table((*head, "within 90 %", "one utilization"), lines)


def as_text(judged: Sequence[Judged], lacking: Sequence[Lacking]) -> str:
    parts = [
        table(judged).columns((0, 1, -1)),
        summary_table(judged).columns((0,)),
    ]
    if lacking:
        counts = cells.counted(lacking, "steps")
        parts.append(["not expressible", *counts.columns((0,))])
    return "\n\n".join("\n".join(part) for part in parts)
