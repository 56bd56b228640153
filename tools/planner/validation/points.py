# SPDX-License-Identifier: MIT
"""Reads measured points as jobs, from points.tsv, megatron.tsv, or a file with the
columns of one of them."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tools.planner.recipes import Job, recipes
from tools.planner.timing import NODE
from tools.planner.validation import cells
from tools.planner.validation.cells import Lacks, MeasuredJob, Row


@dataclass(frozen=True)
class Point(MeasuredJob):
    """The measured bytes of a job. `assumed` says what was assumed because the row does
    not give it."""

    # Bytes, by "static", "peak" and "reserved".
    measured: dict[str, int] = field(default_factory=dict)
    recipe: str = ""
    job: Job | None = None  # None if it lacks something
    assumed: str = ""


def read_points(path: Path) -> Iterator[Point]:
    """Reads the points of a file. Raises ValueError if its columns are unknown."""
    readers = (
        ({"test", "mem", "peak"}, _megatron),
        ({"memory"}, _by_hand),
    )
    rows, with_job = cells.table(path, readers, "points.tsv or megatron.tsv")
    for row in rows:
        name = "{test} {env}" if with_job is _megatron else "{id} {model}"
        point = Point(name.format(**row), row["gpu"])
        yield cells.expressed(point, with_job, row)


def _traits(gpu: str, *words: str) -> frozenset[str]:
    kind = "hopper" if re.search("H[12]00|H800|B[23]00", gpu.upper()) else "a100"
    return frozenset(word for word in (kind, *words) if word)


def _takes_flash(gpu: str, dropout: bool) -> bool:
    """Whether FlashAttention runs instead of cuDNN's: Transformer Engine prefers it
    below Hopper, and on Blackwell cuDNN's is not deterministic with dropout."""
    return "hopper" not in _traits(gpu) or bool(
        dropout and re.search("B[23]00", gpu.upper())
    )


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


def _megatron_checkpoint(row: Row, attention: str) -> str:
    """Segments for --recompute-method=uniform, attention for selective recomputation;
    fused kernels recompute attention in any case."""
    if row["recompute-granularity"] == "selective":
        return "attention" if attention == "naive" else ""
    whole = row["recompute-granularity"] == "full"
    if not whole or row["recompute-method"] == "block":
        return ""
    return f"every_{row['recompute-num-layers'] or 1}"


def _megatron_model(row: Row, more: Row, attention: str) -> str:
    tensor = int(row["tensor-model-parallel-size"] or 1)
    d_model = int(row["hidden-size"])
    rope = row["position-embedding-type"] == "rope"
    rms = row["normalization"] == "RMSNorm"
    biases = "none" if rms else "norms"
    checkpoint = _megatron_checkpoint(row, attention)
    d_ff = 4 * d_model
    if row["swiglu"]:
        d_ff = d_ff * 2 // 3 // 64 * 64  # megatron/training/arguments.py
    return cells.fields(
        name="megatron",
        d_model=d_model,
        d_ff=row["ffn-hidden-size"] or d_ff,
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
        # A checkpoint saves the residual sum, which fused blocks leave to the next.
        implementation="library" if checkpoint.startswith("every") else "fused",
        attention=attention,
        checkpoint=checkpoint,
    )


def _blocks_again(row: Row) -> float:
    """The share of the blocks that --recompute-method=block recomputes."""
    if row["recompute-method"] != "block":
        return 0
    return int(row["recompute-num-layers"] or 1) / int(row["num-layers"])


def _megatron(point: Point, row: Row) -> Point:
    gpu, more = row["gpu"], _arguments(row)
    bytes_ = {"static": row["mem"], "peak": row["peak"]}
    measured = {what: int(found) for what, found in bytes_.items() if found}
    engine = row["transformer-impl"] == "transformer_engine"
    unfused = not engine or row["attention-backend"] == "unfused"
    tensor = int(row["tensor-model-parallel-size"] or 1)
    replicas, instances = int(more["gpus"]) // tensor, int(more["instances"])
    is_deterministic = more["deterministic"] == "true"
    # Deterministic tests do not fuse the accumulation of gradients, and Transformer
    # Engine in the container of lts keeps no dummy gradients.
    traits = _traits(
        gpu,
        "flash" if _takes_flash(gpu, more["dropout"] == "true") else "",
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
    job = Job(
        _megatron_model(row, more, "naive" if unfused else "own"),
        batch=int(row["micro-batch-size"]),
        seq=int(row["seq-length"]),
        tensor=tensor,
        shards=replicas // instances if row["use-distributed-optimizer"] else 1,
        traits=traits,
        recomputed=_blocks_again(row),
        experts=int(row["num-experts"] or 1),
    )
    return replace(
        point, measured=measured, recipe="megatron", job=job, assumed=more["assumed"]
    )


_BYTES = re.compile(r"([\d,]+) B (static|allocated peak|peak)")
_GIB = re.compile(r"([\d.]+) GiB")


def _by_hand(point: Point, row: Row) -> Point:
    source, gpu, recipe = row["source"], row["gpu"], cells.framework(row)
    own, seq = cells.ranks(row), int(row["seq"])
    if own.pipeline > 1:
        raise Lacks("pipeline parallelism")
    cells.arithmetic(row)  # raises Lacks for a precision that recipes do not cover
    batch, _ = cells.batches(row, own, seq)
    assumed = ""
    if not re.match(r"(mb )?\d", row["batch"]):
        assumed = f"micro-batches of {batch}"
    memory = row["memory"]
    found = {what: digits.replace(",", "") for digits, what in _BYTES.findall(memory)}
    if found and "test_cases/" in source:
        peak = found.get("peak") or found["allocated peak"]
        bytes_ = {"mem": found.get("static", ""), "peak": peak}
        test = source.partition("test_cases/")[2].partition(" ")[0]
        columns = {"test": test, "env": "", "gpu": gpu, **bytes_}
        columns |= _cells(row, own.tensor, batch)
        return _megatron(point, defaultdict(str, columns))
    measured = {}
    gib = _GIB.fullmatch(memory)
    if gib:
        # torchtitan/components/metrics.py logs the memory that the allocator reserved.
        what = "reserved" if recipe == "torchtitan" else "peak"
        measured = {what: round(float(gib[1]) * 2**30)}
    shards = own.data if _is_sharded(row, recipe) else 1
    if "HSDP" in row["parallelism"]:
        shards = min(own.data, NODE)
    job = Job(
        cells.fields(name="by_hand", **cells.sizes(row), **cells.architecture(row)),
        *(batch, seq, own.tensor, shards),
        mode="forward_backward" if "fwd" in row["measured"] else "train_step",
    )
    job, more = _with_setting(job, row, recipe)
    guesses = ", ".join(word for word in (assumed, more) if word)
    return replace(point, measured=measured, recipe=recipe, job=job, assumed=guesses)


def _is_sharded(row: Row, recipe: str) -> bool:
    """Whether ranks shard. Megatron's fp16 jobs predate its distributed optimizer."""
    if recipe == "megatron":
        return "fp16" not in row["precision"]
    return "SDP" in row["parallelism"] or "ZeRO" in row["parallelism"]


def _with_setting(job: Job, row: Row, recipe: str) -> tuple[Job, str]:
    """Adds the row's settings, and returns what is assumed where it gives none."""
    kind, share = row["checkpointing"], cells.recomputed(row)
    assumed = "no recomputation" if kind == "n/s" else ""
    words = f"{row['precision']}; {row['parallelism']}; {row['source']}"
    traits = set((cells.named(f"traits of {recipe}", words) or "").split())
    legacy = "local" in traits
    checkpoint, of_blocks = "every_1" if share == 1 else "", 0.0
    if kind == "selective" and recipe == "fms-fsdp":
        # fms_fsdp/config/training.py, selective_checkpointing
        checkpoint, assumed = "every_1", "every block recomputed"
    elif kind == "selective layer":
        of_blocks = share  # torchtitan's train_configs, selective_ac_option = '2'
    elif kind.startswith("selective") and recipe == "torchtitan":
        checkpoint = "every_1"
        traits.add("op")
    elif kind.startswith("selective"):
        checkpoint = "attention" if legacy else ""
    fused = not checkpoint and cells.is_fused(row)
    precision = "bf16"
    if recipe in ("pytorch", "nanogpt") and "fsdp" not in traits:
        precision = {"bf16": "bf16_autocast", "bf16 all": "bf16"}.get(
            row["precision"], row["precision"]
        )
    if precision not in recipes()[recipe].precisions:
        raise Lacks(f"a precision of the recipe {recipe}; there is {precision!r}")
    if recipe == "megatron":
        flash = "" if legacy or not _takes_flash(row["gpu"], False) else "flash"
        traits |= _traits(row["gpu"], flash)
    setting = cells.fields(
        implementation="fused" if fused else "library",
        attention="naive" if legacy else "own" if fused else "sdpa",
        checkpoint=checkpoint,
    )
    return replace(
        job,
        model=f"{job.model},{setting}",
        traits=frozenset(traits),
        precision=precision,
        recomputed=of_blocks,
    ), assumed


def _cells(row: Row, tensor: int, batch: int) -> dict[str, str]:
    """Converts a row to the columns of megatron.tsv."""
    numbers = cells.sizes(row)
    is_nemotron = "true" if row["model"].startswith("Nemotron") else ""
    return {
        "num-layers": str(numbers["layers"]),
        "hidden-size": str(numbers["d_model"]),
        "ffn-hidden-size": str(numbers["d_ff"]),
        "num-attention-heads": str(numbers["heads"]),
        "num-query-groups": str(numbers["kv_heads"] or ""),
        "vocab-size": str(numbers["vocab"]),
        "seq-length": row["seq"],
        "micro-batch-size": str(batch),
        "tensor-model-parallel-size": str(tensor),
        "sequence-parallel": "true" if "+SP" in row["parallelism"] else "",
        "use-distributed-optimizer": "true",
        "transformer-impl": "transformer_engine",
        "untie-embeddings-and-output-weights": "true",
        "disable-bias-linear": is_nemotron,
        "position-embedding-type": "rope" if is_nemotron else "",
    }
