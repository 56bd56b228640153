# SPDX-License-Identifier: MIT
"""Reads measured steps as jobs, from points.tsv, llm_foundry.tsv, neusight.tsv, or a
file with the columns of one of them."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from reports.results.rows import Result
from tools.planner.timing.rates import Device, devices, of_result
from tools.planner.timing.step import Ranks, TimedJob
from tools.planner.validation import cells
from tools.planner.validation.cells import Lacks, MeasuredJob, Row

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
_SHARDING, _YES_OR_NO = ("none", "optimizer", "parameters"), ("true", "false")


@dataclass(frozen=True)
class Step(MeasuredJob):
    """The measured time of a step."""

    source: str
    value: float = 0
    # s; tok/s or FLOP/s per GPU; HFU FLOP/s, which include recomputed ones; or MFU.
    unit: str = ""
    device: Device | None = None
    job: TimedJob | None = None  # None if it lacks something
    cause: str = ""  # why the prediction misses, if it does


def read_steps(path: Path) -> Iterator[Step]:
    """Reads the steps of a file. Raises ValueError if its columns are unknown."""
    # Each has functions that return a row's step, still without a job, and its cells
    # in the columns of points.tsv.
    readers = (
        ({"step_s", "grad_accum"}, (_llm_foundry_step, _llm_foundry_cells)),
        ({"measured_ms", "option"}, (_neusight_step, _neusight_cells)),
        ({"id", "device", "value", "unit"}, (_by_hand_step, _by_hand_cells)),
    )
    allowed = "points.tsv, llm_foundry.tsv or neusight.tsv"
    rows, (step_of, cells_of) = cells.table(path, readers, allowed)

    def with_job(step: Step, row: Row) -> Step:
        if step.device is None:
            raise Lacks(f"a GPU of devices.tsv; there is {step.gpu}")
        return _with_job(step, step.device, cells_of(row))

    return (cells.expressed(step_of(row), with_job, row) for row in rows)


def _by_hand_step(row: Row) -> Step:
    name, device = f"{row['id']} {row['model']}", devices().get(row["device"])
    return Step(name, row["gpu"], row["source"], device=device, cause=row["cause"])


def _by_hand_cells(row: Row) -> Row:
    return row


def _llm_foundry_step(row: Row) -> Step:
    shape = f"{row['gpus']} x {row['micro_batch']} x {row['seq']}"
    name, device = f"MPT-{row['model']}, {shape}", _device(row["gpu"])
    return Step(name, row["gpu"], "llm-foundry", device=device)


def _llm_foundry_cells(row: Row) -> Row:
    d_ff = cells.count(row, "ff_ratio") * cells.count(row, "d_model")
    own = {
        "d_ff": str(d_ff),
        "kv_heads": row["heads"],
        "batch": row["micro_batch"],
        "micro_batches": row["grad_accum"],
        "data": row["gpus"],
        "recomputed": "1" if row["act_ckpt"] == "True" else "0",
        "value": row["step_s"],
    }
    return row | _meaning("MPT") | own


def _neusight_step(row: Row) -> Step:
    name, gpu = f"{row['model']} {row['option']}".strip(), row["device"]
    return Step(name, gpu, "sitar-lab/NeuSight", device=_device(gpu))


def _neusight_cells(row: Row) -> Row:
    split = _meaning(row["option"]) if row["option"] else {}
    batch = cells.count(row, "batch") // int(split.get("data", "1"))
    own = {"seq": row["seq"], "batch": str(batch), "value": row["measured_ms"]}
    return _meaning(row["model"]) | split | own


@cache
def _names() -> dict[str, Row]:
    """Returns the cells that a name in these two files stands for."""
    return {
        row["name"]: {column: cell for column, cell in row.items() if cell}
        for row in cells.data("names.tsv")
    }


def _meaning(name: str) -> Row:
    return _names()[cells.one_of("name", name, _names())]


def _device(gpu: str) -> Device | None:
    return devices().get(_names().get(gpu, {}).get("device", ""))


def _with_job(step: Step, device: Device, row: Row) -> Step:
    """Adds the job of a row with the cells of points.tsv."""
    if row.get("lacks"):
        raise Lacks(row["lacks"])
    if row["optimizer"] != "AdamW":
        raise Lacks(row["optimizer"])
    unit, scale = _UNITS[cells.one_of("unit", row["unit"], _UNITS)]
    most = 1 if unit == "MFU" else 1e9
    own, share = _ranks(row), cells.number(row, "recomputed", 0, 1)
    kernel = "triton_attention"  # MPT's
    is_own = step.source == "llm-foundry" and kernel in device.peaks
    job = TimedJob(
        _model(row, own, share),
        cells.count(row, "batch"),
        cells.count(row, "seq"),
        own,
        precision=cells.precision(row),
        mode=row["mode"],
        recomputed=share if share < 1 else 0,
        attention=kernel if is_own else "attention",
    )
    value = scale * cells.number(row, "value", 1e-9, most)
    return replace(step, value=value, unit=unit, job=job)


def _ranks(row: Row) -> Ranks:
    sharding = cells.one_of("sharding", row["sharding"], _SHARDING)
    parallel = cells.one_of("sequence_parallel", row["sequence_parallel"], _YES_OR_NO)
    return Ranks(
        tensor=cells.count(row, "tensor"),
        pipeline=cells.count(row, "pipeline"),
        data=cells.count(row, "data"),
        shards_parameters=sharding == "parameters",
        shards_optimizer=sharding == "optimizer",
        sequence_parallel=parallel == "true",
        chunks=cells.count(row, "chunks"),
        micro_batches=cells.count(row, "micro_batches"),
    )


def _model(row: Row, of: Ranks, recomputed: float) -> str:
    layers = cells.count(row, "layers")
    if layers < of.pipeline:
        raise Lacks(f"a layer for each of {of.pipeline} stages")
    # Jobs of 2021 and before (fp16), and jobs without half precision.
    unfused = row["precision"] in ("fp16", "fp32", "tf32")
    stage = {"layers": str(math.ceil(layers / of.pipeline))}
    return cells.model(
        row | stage,
        pad_vocab=of.tensor,
        attention="naive" if unfused else "sdpa",
        implementation=row["implementation"],
        checkpoint="every_1" if recomputed == 1 else "",
    )


def steps_of(
    result: Result, named: Callable[[str], Mapping[str, Any]]
) -> Iterator[Step]:
    """Yields the steps that a CPU's result has timed; `named` returns the program's row
    for a named model. Raises ValueError for a result without peaks."""
    device = of_result(result)
    for row in (row for name in _EXPERIMENTS for row in result.of(name)):
        words, numbers = row.words, row.numbers
        if "checkpoint" in words:
            continue
        sizes = named(words["model"])
        keys = ("d_model", "d_ff", "layers", "heads", "vocab")
        job = TimedJob(
            cells.fields(
                **{key: sizes[key] for key in keys},
                implementation=words.get("implementation", ""),
            ),
            numbers["batch"],
            numbers["seq"],
            precision=words["precision"],
            mode=words["mode"],
        )
        cpu = str(result.context["device"])
        yield Step(row.name, cpu, "", 1e-6 * row.time_us, "s", device, job)
