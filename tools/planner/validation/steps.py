# SPDX-License-Identifier: MIT
"""Measured steps as jobs: rows of points.tsv, llm_foundry.tsv, neusight.tsv, or of a
file of their columns."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from reports.results.rows import Result
from tools.planner.recipes import read_table
from tools.planner.timing.rates import Device, devices, of_result
from tools.planner.timing.step import NODE, Ranks, TimedJob
from tools.planner.validation.points import DATA

Row = Mapping[str, str]
# Of a micro-batch if the source does not say its size.
_TOKENS = 4096
_EXPERIMENTS = ("model_size", "implementations")


@dataclass(frozen=True)
class Step:
    """A measured step. Without a job `lacks` says what it has that no job can have."""

    name: str
    gpu: str
    source: str
    value: float
    unit: str  # s; or of each GPU: tok/s, FLOP/s, FLOP/s with the recomputed ones (HFU)
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


class Lacks(Exception):
    """What no job can have."""


@cache
def _causes() -> dict[str, str]:
    """Why predictions of these steps miss."""
    return {row["step"]: row["cause"] for row in read_table(DATA / "misses.tsv")}


def _fields(**values: object) -> str:
    return ",".join(f"{key}={value}" for key, value in values.items() if value)


_GPT = {
    "mlp": "gelu",
    "norm": "layer",
    "biases": "all",
    "positions": "learned",
}
_LLAMA = {"mlp": "swiglu", "norm": "rms"}
_NEMOTRON = {"mlp": "relu2", "norm": "layer", "biases": "norms"}


def _llm_foundry(row: Row) -> tuple[Step, Row]:
    d_model = int(row["d_model"])
    sizes = (row["layers"], d_model, int(row["ff_ratio"]) * d_model)
    cells = {
        "model": "MPT",
        "layers,d,ff,heads(kv),vocab": ",".join(
            map(str, (*sizes, row["heads"], row["vocab"] + " tied"))
        ),
        "n": row["gpus"],
        "seq": row["seq"],
        "batch": f"mb {row['micro_batch']}, gb {row['global_batch']}",
        "precision": "fp8" if "fp8" in row["precision"] else "bf16",
        "parallelism": "FSDP",
        "checkpointing": "full" if row["act_ckpt"] == "True" else "none",
    }
    name = f"MPT-{row['model']}, {row['gpus']} x {row['micro_batch']} x {row['seq']}"
    return Step(name, row["gpu"], "llm-foundry", float(row["step_s"]), "s"), cells


# Layers, d_model, d_ff, heads and vocabulary of models that rows name.
_SIZES = {
    "HF GPT-2 Large": "36,1280,5120,20,50257 tied",
    "gpt2_large": "36,1280,5120,20,50257 tied",
    "gpt3_xl": "24,2048,8192,16,50257 tied",
    "gpt3_27": "32,2560,10240,32,50257 tied",
    "opt_13": "24,2048,8192,32,50272 tied",
    "Llama-3.2 3B": "28,3072,8192,24(8),128256 tied",
}


def _neusight(row: Row) -> tuple[Step, Row]:
    cells = {
        "model": row["model"],
        "layers,d,ff,heads(kv),vocab": "same",
        "seq": row["seq"],
        "batch": f"gb {row['batch']}",
        "precision": "fp32",
        "parallelism": row["option"].upper().partition("_")[0],
        "checkpointing": "none",
    }
    name = f"{row['model']} {row['option']}".strip()
    seconds = 1e-3 * float(row["measured_ms"])
    return Step(name, row["device"], "NeuSight", seconds, "s"), cells


# In the order in which they are tried; the first value of several counts.
_UNITS = (
    (r"HFU", r"([\d.,]+) TF/s/GPU", "HFU FLOP/s", 1e12),
    (r"TF/s/GPU", r"([\d.,]+) TF/s/GPU", "FLOP/s", 1e12),
    (r"s/iter|s/step|ms", r"([\d.,]+)(?: / [\d.,]+)* ms", "s", 1e-3),
    (r"s/iter|s/step", r"([\d.,]+)(?: / [\d.,]+)* s/", "s", 1),
    (r"", r"([\d.,]+\d)", "tok/s", 1),
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


def _count(pattern: str, words: str, default: int = 1) -> int:
    found = re.search(pattern, words)
    return int(found[1]) if found else default


def _batches(row: Row, ranks: Ranks, seq: int) -> tuple[int, int]:
    """Of a micro-batch, and how many of them a rank has in a step."""
    words = row["batch"]
    whole = re.search(r"gb (\d+)", words)
    own = re.search(r"^(?:mb )?(\d+)", words)
    if not whole:
        return int(own[1]) if own else max(_TOKENS // seq, 1), 1
    of_rank = int(whole[1]) // ranks.data
    batch = int(own[1]) if own else min(max(_TOKENS // seq, 1), of_rank)
    return batch, max(of_rank // batch, 1)


def _ranks(row: Row) -> Ranks:
    words = row["parallelism"].partition(" / ")[0]  # of several measured ways
    both = _count(r"model parallel (\d+)", words)  # tensor ranks within a node
    tensor = _count(r"TP(\d+)", words, min(both, NODE))
    pipeline = _count(r"PP(\d+)", words, max(both // NODE, 1))
    gpus = int(row.get("n") or _count(r"[DTP]P(\d)", words))
    return Ranks(
        tensor=tensor,
        pipeline=pipeline,
        data=max(gpus // (tensor * pipeline), 1),
        shards_parameters=bool(re.search("FSDP|HSDP", words)),
        shards_optimizer=bool(re.search("optimizer|ZeRO", words)),
    )


def _architecture(row: Row) -> dict[str, str]:
    name = row["model"]
    if "lama" in name:
        return _LLAMA
    if "Nemotron" in name:
        return _NEMOTRON
    return _GPT | {"context": row["seq"]}


def _is_compiled(row: Row) -> bool:
    """Or by fused kernels, as Megatron and llm.c have."""
    return row["precision"] != "fp32" and row["model"] != "MPT"


def _checkpoint(words: str) -> str:
    if words.startswith("full"):
        return "every_1"
    return ""


def _model(row: Row, ranks: Ranks) -> str:
    sizes = row["layers,d,ff,heads(kv),vocab"]
    if sizes == "same":
        sizes = _SIZES[row["model"]]
    layers, d_model, d_ff, heads, vocab = sizes.split(",")
    if d_ff.endswith("d"):
        d_ff = str(int(d_ff[:-1]) * int(d_model))
    own, _, kv = heads.rstrip(")").partition("(")
    # Of 2021 and before, and those without half precision.
    unfused = row["precision"] in ("fp16", "fp32")
    return _fields(
        d_model=d_model,
        d_ff=d_ff,
        layers=int(layers) // ranks.pipeline,
        heads=own if own != "-" else int(d_model) // 128,
        kv_heads=kv,
        vocab=vocab.partition(" ")[0],
        pad_vocab=ranks.tensor,
        tied_embeddings="true" if "tied" in vocab else "",
        attention="naive" if unfused else "sdpa",
        implementation="fused" if _is_compiled(row) else "library",
        checkpoint=_checkpoint(row["checkpointing"]),
        **_architecture(row),
    )


def _job(row: Row, device: Device) -> TimedJob:
    for word in ("fp8", "Muon"):
        if word in row["precision"] + row["model"]:
            raise Lacks(word)
    ranks, seq = _ranks(row), int(row["seq"])
    batch, micro_batches = _batches(row, ranks, seq)
    is_fp32 = row["precision"] == "fp32"
    own = "triton_attention"  # of MPT
    return TimedJob(
        _model(row, ranks),
        batch,
        seq,
        replace(ranks, micro_batches=micro_batches),
        precision="fp32" if is_fp32 else "bf16",
        mode="forward_backward" if is_fp32 else "train_step",
        recomputed=0.5 if row["checkpointing"] == "selective" else 0,
        attention=own if row["model"] == "MPT" and own in device.peaks else "attention",
    )


def steps_of(result: Result, sizes: Callable[[str], Row]) -> Iterator[Step]:
    """The steps that a CPU's result has timed; `sizes` gives a named model's row of the
    program. Errors: ValueError, for a result without peaks."""
    device = of_result(result)
    for row in (row for name in _EXPERIMENTS for row in result.of(name)):
        words, numbers = row.words, row.numbers
        if "checkpoint" in words:
            continue
        model = sizes(words["model"])
        keys = ("d_model", "d_ff", "layers", "heads", "vocab")
        job = TimedJob(
            _fields(
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
