# SPDX-License-Identifier: MIT
"""Reads measured points as jobs, from points.tsv, megatron.tsv, or a file with the
columns of one of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.planner.recipes import TOTALS, FrameworkJob, recipes
from tools.planner.validation import cells
from tools.planner.validation.cells import Form, Lacking, Lacks, MeasuredJob, Row


@dataclass(frozen=True)
class Point(MeasuredJob):
    """The measured bytes of a job."""

    row: Row  # its gpu, recipe and assumed
    measured: dict[str, int]  # bytes, by "static", "peak" and "reserved"
    job: FrameworkJob


# Arguments of megatron.tsv that no job can express unless they are "1".
_ONE = {
    "pipeline-model-parallel-size": "pipeline parallelism",
    "context-parallel-size": "context parallelism",
    "expert-model-parallel-size": "expert parallelism",
    "fp8-format": "fp8",
    "use-megatron-fsdp": "Megatron-FSDP",
}


def _arguments(row: Row) -> Row:
    """Returns the arguments that the columns leave out. Raises Lacks for a test that no
    job can express."""
    if "inference" in row["test"]:
        raise Lacks("no training step")
    if "grpo" in row["test"]:
        raise Lacks("rollouts of an inference engine")
    for key, what in _ONE.items():
        if row[key] not in ("", "1"):
            raise Lacks(what)
    if row["num-experts"] and row["tensor-model-parallel-size"] not in ("", "1"):
        raise Lacks("experts with tensor parallelism")
    name = row["test"].rpartition("/")[2]
    for more in cells.data("megatron_arguments.tsv"):
        if name.startswith(more["tests"]):
            return more
    raise Lacks("arguments that the columns leave out")


def _megatron_checkpoint(row: Row, unfused: bool) -> str:
    """Segments for --recompute-method=uniform, attention for selective recomputation;
    fused kernels recompute attention in any case."""
    if row["recompute-granularity"] == "selective":
        return "attention" if unfused else "none"
    whole = row["recompute-granularity"] == "full"
    if not whole or row["recompute-method"] == "block":
        return "none"
    return f"every_{row['recompute-num-layers'] or 1}"


def _blocks_again(row: Row) -> float:
    """The share of the blocks that --recompute-method=block recomputes."""
    if row["recompute-method"] != "block":
        return 0
    return int(row["recompute-num-layers"] or 1) / int(row["num-layers"])


def _megatron_traits(row: Row, more: Row) -> tuple[str, ...]:
    is_a100 = cells.one_of("gpu", row["gpu"], ("a100", "h100")) == "a100"
    engine = row["transformer-impl"] == "transformer_engine"
    unfused = not engine or row["attention-backend"] == "unfused"
    is_deterministic = more["deterministic"] == "true"
    # Deterministic tests do not fuse the accumulation of gradients, and Transformer
    # Engine in the container of lts keeps no dummy gradients. Below Hopper it prefers
    # FlashAttention to cuDNN's.
    return (
        "a100" if is_a100 else "hopper",
        "flash" if is_a100 else "",
        "te" if engine else "local",
        "fp16" if row["fp16"] else "bf16",
        "unfused" if unfused else "fused",
        "dropout" if more["dropout"] == "true" else "",
        "sequence_parallel" if row["sequence-parallel"] else "",
        "distributed" if row["use-distributed-optimizer"] else "",
        "deterministic" if is_deterministic else "",
        "" if is_deterministic or row["env"] == "lts" else "fused_accumulation",
        "moe" if row["num-experts"] else "",
        "mask",
    )


def _megatron_cells(row: Row) -> Row:
    """Returns the row in the columns of points.tsv, and its experts."""
    more = _arguments(row)
    traits = _megatron_traits(row, more)
    d_model, tensor = row["hidden-size"], row["tensor-model-parallel-size"] or "1"
    d_ff = 4 * int(d_model)
    if row["swiglu"]:
        d_ff = d_ff * 2 // 3 // 64 * 64  # megatron/training/arguments.py
    rms = row["normalization"] == "RMSNorm"
    biases = "none" if rms else "norms"
    shards = int(more["gpus"]) // int(tensor) // int(more["instances"])
    return {
        "gpu": row["gpu"],
        "layers": row["num-layers"],
        "d_model": d_model,
        "d_ff": row["ffn-hidden-size"] or str(d_ff),
        "heads": row["num-attention-heads"],
        "kv_heads": row["num-query-groups"],
        "vocab": row["vocab-size"] or more["vocab-size"],
        "tied_embeddings": "" if row["untie-embeddings-and-output-weights"] else "true",
        "mlp": "swiglu" if row["swiglu"] else more["activation"],
        "norm": "rms" if rms else "layer",
        "biases": biases if row["disable-bias-linear"] else "all",
        "positions": row["position-embedding-type"] or "learned",
        "seq": row["seq-length"],
        "batch": row["micro-batch-size"],
        "precision": "fp16" if row["fp16"] else "bf16",
        "mode": "train_step",
        "tensor": tensor,
        "pipeline": "1",
        "recomputed": str(_blocks_again(row)),
        "implementation": "fused",
        "recipe": "megatron",
        "traits": " ".join(traits),
        "shards": str(shards) if row["use-distributed-optimizer"] else "1",
        "checkpoint": _megatron_checkpoint(row, "unfused" in traits),
        "static": row["mem"],
        "peak": row["peak"],
        "assumed": more["assumed"],
        "experts": row["num-experts"] or "1",
    }


def _point(name: str, row: Row) -> Point:
    if cells.count(row, "pipeline") > 1:
        raise Lacks("pipeline parallelism")
    if row.get("lacks"):
        raise Lacks(row["lacks"])
    recipe = recipes()[cells.one_of("recipe", row["recipe"], recipes())]
    part = cells.part(row)
    cells.one_of("precision", part["precision"], recipe.named("precision"))
    known = sorted(recipe.words())
    words = row["traits"].split()
    traits = frozenset(cells.one_of("traits", word, known) for word in words)
    share = cells.number(row, "recomputed", 0, 1)
    job = FrameworkJob(
        _model(row, traits),
        **part,
        recomputed=share if row["checkpoint"] == "none" else 0,
        shards=cells.count(row, "shards"),
        traits=traits,
        experts=int(row.get("experts", "1")),
    )
    measured = {what: cells.count(row, what) for what in TOTALS if row.get(what)}
    kept = {key: row[key] for key in ("gpu", "recipe", "assumed")}
    return Point(name, kept, measured, job)


def _model(row: Row, traits: frozenset[str]) -> str:
    is_megatron = row["recipe"] == "megatron"
    # A checkpoint saves the residual sum, which fused blocks leave to the next.
    of_blocks = row["checkpoint"].startswith("every")
    implementation = "library" if of_blocks else row["implementation"]
    fused = "own" if is_megatron or implementation == "fused" else "sdpa"
    # Megatron: --make-vocab-size-divisible-by
    multiple = 128 if is_megatron else 1
    return cells.model(
        row,
        pad_vocab=multiple * cells.count(row, "tensor"),
        implementation=implementation,
        attention="naive" if "unfused" in traits else fused,
        checkpoint=row["checkpoint"],
    )


FORMS = (
    Form("points.tsv", {"id", "recipe", "traits", "shards"}),
    Form("megatron.tsv", {"test", "mem", "peak"}, "{test} {env}", _megatron_cells),
)


def read_points(path: Path) -> Iterator[Point | Lacking]:
    """Reads the points of a file. Raises ValueError if its columns are unknown."""
    return cells.read(path, FORMS, _point)
