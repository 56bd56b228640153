# SPDX-License-Identifier: MIT
"""Reads measured steps as jobs, from points.tsv, llm_foundry.tsv, neusight.tsv, or a
file with the columns of one of them."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reports.results.rows import Result
from tools.planner.timing.rates import Device, devices, of_result
from tools.planner.timing.step import Ranks, TimedJob
from tools.planner.validation import cells
from tools.planner.validation.cells import SIZES, Lacks, MeasuredJob, Row

_EXPERIMENTS = ("model_size", "implementations")


@dataclass(frozen=True)
class Step(MeasuredJob):
    """The measured time of a step."""

    source: str
    value: float
    # s; tok/s or FLOP/s per GPU; HFU FLOP/s, which include recomputed ones; or MFU.
    unit: str
    device: Device | None = None
    job: TimedJob | None = None  # None if it lacks something
    cause: str = ""  # why the prediction misses, if it does


def read_steps(path: Path) -> Iterator[Step]:
    """Reads the steps of a file. Raises ValueError if its columns are unknown."""
    readers = (
        ({"step_s", "grad_accum"}, _llm_foundry),
        ({"measured_ms", "option"}, _neusight),
        ({"id", "gpu", "model", "measured", "parallelism", SIZES}, _by_hand),
    )
    allowed = "points.tsv, llm_foundry.tsv or neusight.tsv"
    rows, read = cells.table(path, readers, allowed)
    return (_step(read(row)) for row in rows)


def _llm_foundry(row: Row) -> Row:
    name = f"MPT-{row['model']}, {row['gpus']} x {row['micro_batch']} x {row['seq']}"
    wide = (row["layers"], row["d_model"], f"{row['ff_ratio']}d", row["heads"])
    return row | {
        "name": name,
        "model": "MPT",
        SIZES: ",".join((*wide, f"{row['vocab']} tied")),
        "n": row["gpus"],
        "batch": f"mb {row['micro_batch']}, gb {row['global_batch']}",
        "parallelism": "FSDP",
        "checkpointing": row["act_ckpt"],
        "measured": f"{row['step_s']} s/step",
        "source": "llm-foundry",
    }


def _neusight(row: Row) -> Row:
    return row | {
        "name": f"{row['model']} {row['option']}".strip(),
        "gpu": row["device"],
        SIZES: "same",
        "batch": f"gb {row['batch']}",
        "precision": "fp32",
        "parallelism": row["option"].upper(),
        "checkpointing": "none",
        "measured": f"{row['measured_ms']} ms, fwd + bwd",
        "source": "sitar-lab/NeuSight",
    }


def _by_hand(row: Row) -> Row:
    return row | {"name": f"{row['id']} {row['model']}"}


def _step(row: Row) -> Step:
    """Reads a row with a name and the columns of points.tsv."""
    name, gpu, source = row["name"], row["gpu"], row["source"].partition(":")[0]
    causes = (
        miss["cause"]
        for miss in cells.data("misses.tsv")
        if (miss["step"], miss["gpu"]) == (name, gpu)
    )
    value, unit = _measured(row["measured"])
    step = Step(name, gpu, source, value, unit, cause=next(causes, ""))
    return cells.expressed(step, _with_job, row)


_NUMBER = r"([\d,]*\.?\d+(?:e[-+]\d+)?)"
# Tried in this order; the first of several values counts.
_UNITS = (
    (rf"{_NUMBER} ?TF(?:LOPs?)?(?:/s)?/GPU \(HFU", "HFU FLOP/s", 1e12),
    (rf"{_NUMBER} ?TF(?:LOPs?)?(?:/s)?/GPU", "FLOP/s", 1e12),
    (rf"{_NUMBER}(?: / [\d.,]+)* ?ms", "s", 1e-3),
    (rf"{_NUMBER}(?: / [\d.,]+)* ?s ?/ ?(?:iter|step)", "s", 1),
    (rf"^{_NUMBER}(?: ?tok/s/GPU| ?[;(]|, |$)", "tok/s", 1),
    (rf"^{_NUMBER}k(?: ?tok/s/GPU| ?[;(]|, |$)", "tok/s", 1e3),
    (rf"\bMFU {_NUMBER}|{_NUMBER} % MFU", "MFU", 1),
)


def _measured(words: str) -> tuple[float, str]:
    words = words.rpartition("= ")[2]
    for pattern, unit, scale in _UNITS:
        if found := re.search(pattern, words):
            number = next(filter(None, found.groups()))
            return scale * float(number.replace(",", "")), unit
    return 0, words


def _model(row: Row, of: Ranks) -> str:
    numbers = cells.sizes(row)
    layers = numbers["layers"]
    if layers < of.pipeline:
        raise Lacks(f"a layer for each of {of.pipeline} stages")
    # Jobs of 2021 and before (fp16), and jobs without half precision.
    unfused = cells.arithmetic(row) in ("fp16", "fp32", "tf32")
    return cells.fields(
        **numbers | {"layers": math.ceil(layers / of.pipeline)},
        pad_vocab=of.tensor,
        attention="naive" if unfused else "sdpa",
        implementation="fused" if cells.is_fused(row) else "library",
        checkpoint="every_1" if cells.recomputed(row) == 1 else "",
        **cells.architecture(row),
    )


def _with_job(step: Step, row: Row) -> Step:
    device = devices().get(cells.named("device", step.gpu) or "")
    if device is None:
        raise Lacks(f"a GPU of devices.tsv; there is {step.gpu}")
    if "Muon" in row["model"]:
        raise Lacks("Muon")
    own_ranks, seq = cells.ranks(row), int(row["seq"])
    batch, micro_batches = cells.batches(row, own_ranks, seq)
    kind, share = cells.arithmetic(row), cells.recomputed(row)
    own = "triton_attention"  # MPT's kernel
    job = TimedJob(
        _model(row, own_ranks),
        batch,
        seq,
        replace(own_ranks, micro_batches=micro_batches),
        precision="bf16" if kind == "fp16" else kind,
        mode="forward_backward" if "fwd" in row["measured"] else "train_step",
        recomputed=share if share < 1 else 0,
        attention=own if row["model"] == "MPT" and own in device.peaks else "attention",
    )
    return replace(step, device=device, job=job)


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
