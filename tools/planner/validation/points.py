# SPDX-License-Identifier: MIT
"""Measured points as jobs: rows of points.tsv, of megatron.tsv, or of a file of their
columns."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from tools.planner.recipes import Job, read_table

DATA = Path(__file__).resolve().parents[3] / "reports/reference/public"
Row = Mapping[str, str]


@dataclass(frozen=True)
class Point:
    """A measured job. Without a job `lacks` says what it has that no job can have."""

    name: str
    gpu: str
    measured: dict[str, int] = field(default_factory=dict)  # static, peak: bytes
    recipe: str = ""
    job: Job | None = None
    lacks: str = ""


def read_points(path: Path) -> Iterator[Point]:
    """ValueError if the file has columns of neither table."""
    rows = read_table(path)
    columns = rows[0].keys() if rows else set()
    for needed, read in (({"test", "mem", "peak"}, _megatron), ({"memory"}, _by_hand)):
        if needed <= columns:
            yield from map(read, rows)
            return
    raise ValueError(
        f"{path} has the columns {', '.join(columns) or 'of no row'}; "
        "allowed: the columns of points.tsv or megatron.tsv"
    )


def _fields(**values: object) -> str:
    return ",".join(f"{key}={value}" for key, value in values.items() if value)


def _traits(gpu: str, *words: str) -> frozenset[str]:
    kind = "hopper" if re.search("[hH]100|[gG][bB]200", gpu) else "a100"
    return frozenset(word for word in (kind, *words) if word)


# Arguments of megatron.tsv that a job does not have, unless they are "1".
_ONE = {
    "pipeline-model-parallel-size": "pipeline parallelism",
    "context-parallel-size": "context parallelism",
    "expert-model-parallel-size": "expert parallelism",
    "num-experts": "experts",
    "fp8-format": "fp8",
    "use-megatron-fsdp": "Megatron-FSDP",
}


@cache
def _left_out() -> list[dict[str, str]]:
    return read_table(DATA / "megatron_arguments.tsv")


def _arguments(test: str) -> Row | None:
    """What the columns leave out."""
    name = test.rpartition("/")[2]
    for row in _left_out():
        if name.startswith(row["tests"]):
            return row
    return None


def _lacks(row: Row, more: Row | None) -> str:
    if "inference" in row["test"]:
        return "no training step"
    for key, what in _ONE.items():
        if row[key] not in ("", "1"):
            return what
    return "" if more else "arguments that the columns leave out"


def _megatron_model(row: Row, more: Row, attention: str) -> str:
    tensor = int(row["tensor-model-parallel-size"] or 1)
    d_model = int(row["hidden-size"])
    rope = row["position-embedding-type"] == "rope"
    rms = row["normalization"] == "RMSNorm"
    biases = "none" if rms else "norms"
    return _fields(
        name="megatron",
        d_model=d_model,
        d_ff=row["ffn-hidden-size"] or 4 * d_model,
        layers=row["num-layers"],
        heads=row["num-attention-heads"],
        kv_heads=row["num-query-groups"],
        vocab=row["vocab-size"] or more["vocab-size"],
        # --make-vocab-size-divisible-by, 128 unless it is given
        pad_vocab=128 * tensor,
        tied_embeddings="" if row["untie-embeddings-and-output-weights"] else "true",
        mlp="swiglu" if row["swiglu"] else more["activation"],
        norm="rms" if rms else "layer",
        biases=biases if row["disable-bias-linear"] else "all",
        positions="rope" if rope else "learned",
        context="" if rope else row["seq-length"],
        implementation="fused",
        attention=attention,
        checkpoint="every_1" if row["recompute-granularity"] == "full" else "",
    )


def _megatron(row: Row) -> Point:
    name, gpu = f"{row['test']} {row['env']}", row["gpu"]
    more = _arguments(row["test"])
    lacks = _lacks(row, more)
    if more is None or lacks:
        return Point(name, gpu, lacks=lacks)
    bytes_ = {"static": row["mem"], "peak": row["peak"]}
    measured = {what: int(found) for what, found in bytes_.items() if found}
    engine = row["transformer-impl"] == "transformer_engine"
    unfused = not engine or row["attention-backend"] == "unfused"
    tensor = int(row["tensor-model-parallel-size"] or 1)
    replicas, instances = int(more["gpus"]) // tensor, int(more["instances"])
    traits = _traits(
        gpu,
        "te" if engine else "local",
        "fp16" if row["fp16"] else "bf16",
        "unfused" if unfused else "fused",
        "dropout" if more["dropout"] == "true" else "",
        "sequence_parallel" if row["sequence-parallel"] else "",
    )
    job = Job(
        _megatron_model(row, more, "naive" if unfused else "own"),
        batch=int(row["micro-batch-size"]),
        seq=int(row["seq-length"]),
        tensor=tensor,
        shards=replicas // instances if row["use-distributed-optimizer"] else 1,
        traits=traits,
    )
    return Point(name, gpu, measured, "megatron", job)


_BYTES = re.compile(r"([\d,]+) B (static|allocated peak|peak)")


def _by_hand(row: Row) -> Point:
    """A job of Megatron's tests, the only ones that say bytes."""
    name, memory = f"{row['id']} {row['model']}", row["memory"]
    found = {what: digits.replace(",", "") for digits, what in _BYTES.findall(memory)}
    if not memory:
        return Point(name, row["gpu"], lacks="a measured memory")
    if not found:
        return Point(name, row["gpu"], lacks=f"bytes; there is {memory!r}")
    test = row["source"].partition("test_cases/")[2].partition(" ")[0]
    peak = found.get("peak") or found["allocated peak"]
    bytes_ = {"mem": found.get("static", ""), "peak": peak}
    cells = {"test": test, "env": "", "gpu": row["gpu"], **bytes_, **_cells(row)}
    return replace(_megatron(defaultdict(str, cells)), name=name)


def _cells(row: Row) -> dict[str, str]:
    """As megatron.tsv has them."""
    sizes = row["layers,d,ff,heads(kv),vocab"].split(",")
    layers, d_model, d_ff, heads, vocab = sizes
    ranks = re.search(r"TP(\d+)(\+SP)?", row["parallelism"])
    batch = re.search(r"mb (\d+)", row["batch"])
    if not ranks or not batch:
        raise ValueError(f"point {row['id']} says no tensor ranks, or no mb, its batch")
    is_nemotron = "true" if row["model"].startswith("Nemotron") else ""
    return {
        "num-layers": layers,
        "hidden-size": d_model,
        "ffn-hidden-size": d_ff,
        "num-attention-heads": heads.partition("(")[0],
        "num-query-groups": heads.partition("(")[2].rstrip(")"),
        "vocab-size": vocab,
        "seq-length": row["seq"],
        "micro-batch-size": batch[1],
        "tensor-model-parallel-size": ranks[1],
        "sequence-parallel": "true" if ranks[2] else "",
        "use-distributed-optimizer": "true",
        "transformer-impl": "transformer_engine",
        "untie-embeddings-and-output-weights": "true",
        "disable-bias-linear": is_nemotron,
        "position-embedding-type": "rope" if is_nemotron else "",
    }
