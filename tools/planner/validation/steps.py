# SPDX-License-Identifier: MIT
"""Measured steps as jobs: rows of points.tsv, llm_foundry.tsv, neusight.tsv, or of a
file of their columns."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from reports.results.rows import Result
from tools.planner.recipes import read_table
from tools.planner.timing.rates import Device, devices, of_result
from tools.planner.timing.step import Ranks, TimedJob
from tools.planner.validation.cells import (
    DATA,
    SIZES,
    Lacks,
    Row,
    architecture,
    batches,
    fields,
    ranks,
    sizes,
)

_EXPERIMENTS = ("model_size", "implementations")


@dataclass(frozen=True)
class Step:
    """A measured step. Without a job `lacks` says what it has that no job can have."""

    name: str
    gpu: str
    source: str
    value: float
    unit: (
        str  # s; of each GPU tok/s, FLOP/s, with the recomputed ones HFU FLOP/s; or MFU
    )
    device: Device | None = None
    job: TimedJob | None = None
    lacks: str = ""
    cause: str = ""  # of a miss, if it is one


def read_steps(path: Path) -> Iterator[Step]:
    """ValueError if the file has columns of no known table."""
    rows = read_table(path)
    columns = set(rows[0]) if rows else set()
    for needed, read in (
        ({"step_s", "grad_accum"}, _llm_foundry),
        ({"measured_ms", "option"}, _neusight),
        ({"measured", "parallelism"}, _by_hand),
    ):
        if needed <= columns:
            yield from (_step(row, read) for row in rows)
            return
    raise ValueError(
        f"{path} has the columns {', '.join(columns) or 'of no row'}; "
        "allowed: the columns of points.tsv, llm_foundry.tsv or neusight.tsv"
    )


def _step(row: Row, read: Callable[[Row], tuple[Step, Row]]) -> Step:
    step, cells = read(row)
    step = replace(step, cause=_causes().get(step.name, ""))
    try:
        device = devices()[_device(step.gpu)]
        return replace(step, device=device, job=_job(cells, device))
    except Lacks as lacks:
        return replace(step, lacks=str(lacks))
    except (KeyError, ValueError) as error:
        return replace(step, lacks=f"cells of a known form: {error}")


@cache
def _causes() -> dict[str, str]:
    """Why predictions of these steps miss."""
    return {row["step"]: row["cause"] for row in read_table(DATA / "misses.tsv")}


def _seconds(cell: str, unit: float) -> tuple[float, str]:
    try:
        return unit * float(cell), "s"
    except ValueError:
        return 0, cell


def _llm_foundry(row: Row) -> tuple[Step, Row]:
    d_model = int(row["d_model"])
    wide = (row["layers"], d_model, int(row["ff_ratio"]) * d_model)
    cells = {
        "model": "MPT",
        SIZES: ",".join(map(str, (*wide, row["heads"], row["vocab"] + " tied"))),
        "n": row["gpus"],
        "seq": row["seq"],
        "batch": f"mb {row['micro_batch']}, gb {row['global_batch']}",
        "precision": "fp8" if "fp8" in row["precision"] else "bf16",
        "parallelism": "FSDP",
        "checkpointing": "full" if row["act_ckpt"] == "True" else "none",
    }
    name = f"MPT-{row['model']}, {row['gpus']} x {row['micro_batch']} x {row['seq']}"
    return Step(name, row["gpu"], "llm-foundry", *_seconds(row["step_s"], 1)), cells


def _neusight(row: Row) -> tuple[Step, Row]:
    cells = {
        "model": row["model"],
        SIZES: "same",
        "seq": row["seq"],
        "batch": f"gb {row['batch']}",
        "precision": "fp32",
        "parallelism": row["option"].upper().partition("_")[0],
        "checkpointing": "none",
    }
    name = f"{row['model']} {row['option']}".strip()
    measured = _seconds(row["measured_ms"], 1e-3)
    return Step(name, row["device"], "NeuSight", *measured), cells


# In the order in which they are tried; the first value of several counts.
_UNITS = (
    (r"HFU", r"([\d.,]+) TF/s/GPU", "HFU FLOP/s", 1e12),
    (r"TF/s/GPU", r"([\d.,]+) TF/s/GPU", "FLOP/s", 1e12),
    (r"s/iter|s/step|ms", r"([\d.,]+)(?: / [\d.,]+)* ms", "s", 1e-3),
    (r"s/iter|s/step", r"([\d.,]+)(?: / [\d.,]+)* s/", "s", 1),
    (r"^MFU", r"([\d.]+)", "MFU", 1),
    (r"^\d", r"([\d.,]+\d)", "tok/s", 1),
)


def _measured(words: str) -> tuple[float, str]:
    words = words.rpartition("= ")[2]
    for where, value, unit, scale in _UNITS:
        found = re.search(value, words) if re.search(where, words) else None
        if found:
            return scale * float(found[1].replace(",", "")), unit
    return 0, words


def _by_hand(row: Row) -> tuple[Step, Row]:
    value, unit = _measured(row["measured"])
    source = row["source"].partition(":")[0]
    return Step(f"{row['id']} {row['model']}", row["gpu"], source, value, unit), row


_DEVICES = (
    ("H100.*500W", "h100-96"),
    ("H100.*PCIe", "h100-pcie"),
    ("H100", "h100"),
    ("H200", "h200"),
    ("B200", "b200"),
    ("A100.*PCIe", "a100-pcie"),
    ("A100.*40", "a100-40"),
    ("A100", "a100-80"),
    ("4090", "rtx-4090"),
)


def _device(gpu: str) -> str:
    for pattern, name in _DEVICES:
        if re.search(pattern, gpu, re.IGNORECASE):
            return name
    raise Lacks(f"a GPU of devices.tsv; there is {gpu}")


def _is_compiled(row: Row) -> bool:
    """Or by fused kernels, as Megatron and llm.c have."""
    return row["precision"] != "fp32" and row["model"] != "MPT"


def _checkpoint(words: str) -> str:
    if words.startswith("full"):
        return "every_1"
    return ""


def _model(row: Row, of: Ranks) -> str:
    numbers, tied = sizes(row)
    # Of 2021 and before, and those without half precision.
    unfused = row["precision"] in ("fp16", "fp32")
    return fields(
        **numbers | {"layers": numbers["layers"] // of.pipeline},
        pad_vocab=of.tensor,
        tied_embeddings="true" if tied else "",
        attention="naive" if unfused else "sdpa",
        implementation="fused" if _is_compiled(row) else "library",
        checkpoint=_checkpoint(row["checkpointing"]),
        **architecture(row),
    )


def _job(row: Row, device: Device) -> TimedJob:
    for word in ("fp8", "Muon"):
        if word in row["precision"] + row["model"]:
            raise Lacks(word)
    own_ranks, seq = ranks(row), int(row["seq"])
    batch, micro_batches = batches(row, own_ranks, seq)
    is_fp32 = row["precision"] == "fp32"
    own = "triton_attention"  # of MPT
    return TimedJob(
        _model(row, own_ranks),
        batch,
        seq,
        replace(own_ranks, micro_batches=micro_batches),
        precision="fp32" if is_fp32 else "bf16",
        mode="forward_backward" if is_fp32 else "train_step",
        recomputed=0.5 if row["checkpointing"] == "selective" else 0,
        attention=own if row["model"] == "MPT" and own in device.peaks else "attention",
    )


def steps_of(result: Result, named: Callable[[str], Row]) -> Iterator[Step]:
    """The steps that a CPU's result has timed; `named` gives a named model's row of the
    program. Errors: ValueError, for a result without peaks."""
    device = of_result(result)
    for row in (row for name in _EXPERIMENTS for row in result.of(name)):
        words, numbers = row.words, row.numbers
        if "checkpoint" in words:
            continue
        model = named(words["model"])
        keys = ("d_model", "d_ff", "layers", "heads", "vocab")
        job = TimedJob(
            fields(
                **{key: model[key] for key in keys},
                implementation=words.get("implementation", ""),
            ),
            numbers["batch"],
            numbers["seq"],
            precision=words["precision"],
            mode=words["mode"],
        )
        cpu = str(result.context["device"])
        yield Step(row.name, cpu, "", 1e-6 * row.time_us, "s", device, job)
