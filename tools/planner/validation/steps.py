# SPDX-License-Identifier: MIT
"""Reads measured steps as jobs, from a table with columns of points.tsv or a result."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reports.results.rows import Result
from reports.results.rows import Row as Timed
from tools.planner.recipes import Job, Plan
from tools.planner.timing.rates import Device, devices, of_result
from tools.planner.timing.step import TimedJob
from tools.planner.validation import cells
from tools.planner.validation.cells import Lacks, Row

_EXPERIMENTS = ("model_size", "implementations")
# Units of points.tsv, as units of a Step.
_UNITS = {
    "s": ("s", 1.0),
    "ms": ("s", 1e-3),
    "tok/s": ("tok/s", 1.0),
    "TFLOP/s": ("FLOP/s", 1e12),
    "HFU TFLOP/s": ("HFU FLOP/s", 1e12),
    "MFU": ("MFU", 1.0),
}
_NEEDED = (
    *(*cells.SHARED, "gpu", "device", "micro_batches", "chunks", "data"),
    *("sharding", "sequence_parallel", "optimizer", "value", "unit"),
)
_SHARDING, _YES_OR_NO = ("none", "optimizer", "parameters"), ("true", "false")


@dataclass(frozen=True)
class Step:
    """The measured time of a step."""

    name: str
    gpu: str
    source: str
    cause: str  # why the prediction misses, if it does
    value: float
    # s; tok/s or FLOP/s per GPU; HFU FLOP/s, which include recomputed ones; or MFU.
    unit: str
    device: Device
    job: TimedJob


# A name and a function that makes the step, or raises Lacks.
Steps = Iterator[tuple[str, Callable[[], Step]]]


def _step(name: str, row: Row) -> Step:
    if row["device"] not in devices():
        raise Lacks(f"a GPU of devices.tsv; there is {row['gpu']}")
    if row["lacks"]:
        raise Lacks(row["lacks"])
    if row["optimizer"] != "AdamW":
        raise Lacks(row["optimizer"])
    unit, scale = _UNITS[cells.one_of("unit", row["unit"], _UNITS)]
    device = devices()[row["device"]]
    most = 1 if unit == "MFU" else 1e9
    return Step(
        name=name,
        gpu=row["gpu"],
        source=row["source"],
        cause=row["cause"],
        value=scale * cells.number(row, "value", 1e-9, most),
        unit=unit,
        device=device,
        job=_job(row, device),
    )


def _job(row: Row, device: Device) -> TimedJob:
    share = cells.number(row, "recomputed", 0, 1)
    sharding = cells.one_of("sharding", row["sharding"], _SHARDING)
    parallel = cells.one_of("sequence_parallel", row["sequence_parallel"], _YES_OR_NO)
    kernel = "triton_attention"  # MPT's
    is_own = row["source"] == "llm-foundry" and kernel in device.peaks
    return TimedJob(
        _model(row, share),
        **cells.part(row),
        recomputed=share if share < 1 else 0,
        pipeline=cells.count(row, "pipeline"),
        data=cells.count(row, "data"),
        shards_parameters=sharding == "parameters",
        shards_optimizer=sharding == "optimizer",
        sequence_parallel=parallel == "true",
        chunks=cells.count(row, "chunks"),
        micro_batches=cells.count(row, "micro_batches"),
        attention=kernel if is_own else "attention",
    )


def _model(row: Row, recomputed: float) -> str:
    layers, stages = cells.count(row, "layers"), cells.count(row, "pipeline")
    if layers < stages:
        raise Lacks(f"a layer for each of {stages} stages")
    # Jobs of 2021 and before (fp16), and jobs without half precision.
    unfused = row["precision"] in ("fp16", "fp32", "tf32")
    stage = {"layers": str(math.ceil(layers / stages))}
    return cells.model(
        row | stage,
        pad_vocab=cells.count(row, "tensor"),
        attention="naive" if unfused else "sdpa",
        implementation=row["implementation"],
        checkpoint="every_1" if recomputed == 1 else "",
    )


def read_steps(path: Path) -> Steps:
    """Reads the steps of a file. Raises ValueError for other columns."""
    for name, row in cells.read(path, _NEEDED):
        yield name, partial(_step, name, row)


def steps_of(result: Result, plan: Plan) -> Steps:
    """Reads the steps that a CPU's result has timed. Raises ValueError for a result
    without peaks."""
    device, cpu = of_result(result), str(result.context["device"])

    def step(row: Timed) -> Step:
        definition = plan(Job(row.words["model"], 1, 1))["definition"]
        of = dict(field.split("=") for field in definition.split(","))
        del of["name"]
        if implementation := row.words.get("implementation"):
            of["implementation"] = implementation
            del of["attention"]  # the implementation's own
        job = TimedJob(
            cells.fields(**of),
            row.numbers["batch"],
            row.numbers["seq"],
            precision=row.words["precision"],
            mode=row.words["mode"],
        )
        return Step(row.name, cpu, "", "", 1e-6 * row.time_us, "s", device, job)

    for row in (row for name in _EXPERIMENTS for row in result.of(name)):
        if "checkpoint" not in row.words:
            yield row.name, partial(step, row)
