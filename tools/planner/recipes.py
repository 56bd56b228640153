# SPDX-License-Identifier: MIT
"""The tensors and workspaces that a framework keeps: rows of recipes.tsv."""

import argparse
import csv
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from reports.compare.argument_types import number

TABLE = Path(__file__).with_name("recipes.tsv")
RULES = tuple(
    (flag, "with", ("recipe",)) for flag in ("traits", "shards", "recomputed")
)
_MIB = 2**20
TOTALS = ("static", "peak", "reserved")
# Components of the residual stream, which sequence parallelism divides.
OF_STREAM = ("embedding", "norm", "residual")
# Bytes allocated from the first step on, and bytes that the next forward pass frees.
_STATIC, _GRADIENT = "static", "gradient"
# Bytes that the allocator has reserved for other streams at the peak.
_RESERVED = "reserved"
# Moments that may be the peak, and whether gradients are allocated then. `dry` is the
# peak of the dry run.
_MOMENTS = {"loss": False, "dry": False, "backward": True, "step": True}


@dataclass(frozen=True)
class Job:
    """One rank's part of a training job.

    `recomputed` is the share of the blocks that the framework recomputes, keeping only
    their inputs.
    """

    model: str  # as tools/plan --model, without its name
    batch: int
    seq: int
    tensor: int = 1
    precision: str = "bf16"
    mode: str = "train_step"
    recomputed: float = 0

    def flags(self) -> tuple[str, ...]:
        """Flags of trainbench_plan, which answers with a row for this part."""
        return (
            *(f"--model=name=job,{self.model}", "--models=job"),
            *(f"--precision={self.precision}", f"--mode={self.mode}"),
            *(f"--batch={self.batch}", f"--seq={self.seq}"),
            f"--tensor_ranks={self.tensor}",
            "--device_memory_gib=0.001",  # no search for the longest sequence
        )


@dataclass(frozen=True)
class FrameworkJob(Job):
    """A job of a framework. `traits` are words of the column `where` in recipes.tsv."""

    shards: int = 1  # ranks that divide the framework's sharded tensors
    traits: frozenset[str] = frozenset()
    experts: int = 1


@dataclass(frozen=True)
class Item:
    """A row of the table that counts bytes."""

    part: str  # static, gradient, reserved or a moment of the step
    name: str
    unit: str
    bytes_each: float
    where: frozenset[str]


@dataclass
class Recipe:
    items: list[Item] = field(default_factory=list)
    precisions: list[str] = field(default_factory=list)
    default: set[str] = field(default_factory=set)  # traits

    def words(self) -> set[str]:
        """Traits that rows require, or that divide the saved activations."""
        return {"sequence_parallel"}.union(*(item.where for item in self.items))

    def of(self, traits: frozenset[str]) -> list[Item]:
        return [item for item in self.items if item.where <= traits]


@dataclass(frozen=True)
class Memory:
    """Bytes by item; no byte is counted twice."""

    static: dict[str, int]
    gradient: dict[str, int]  # after a step, until the next one begins
    peak: dict[str, int]  # in addition to static
    reserved: dict[str, int]  # that the allocator reserves beyond the peak

    def bytes_of(self, what: str) -> int:
        """Total of static with gradients, of the peak, or of what is reserved."""
        parts = {
            _STATIC: (self.gradient,),
            "peak": (self.peak,),
            _RESERVED: (self.peak, self.reserved),
        }
        more = (sum(part.values()) for part in parts[what])
        return sum(self.static.values()) + sum(more)


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def recipes() -> dict[str, Recipe]:
    found: dict[str, Recipe] = defaultdict(Recipe)
    for row in read_table(TABLE):
        recipe, part, item = found[row["recipe"]], row["part"], row["item"]
        if part == "precision":
            recipe.precisions.append(item)
        elif part == "default":
            recipe.default.add(item)
        else:
            where, amount = frozenset(row["where"].split()), float(row["bytes"])
            recipe.items.append(Item(part, item, row["unit"], amount, where))
    return dict(found)


def _parameters(job: FrameworkJob, row: Mapping[str, Any]) -> dict[str, int]:
    """Counts parameters: all, of all blocks, of one block, outside the blocks, and of
    one tensor for each shape of weights."""
    of = row["params_by_component"]
    root = of["embedding"] + of.get("lm_head", 0)
    router = row["layers"] * row["d_model"] * job.experts if job.experts > 1 else 0
    params = row["params"] + (job.experts - 1) * of["ffn"] + router
    dense_block = (row["params"] - root) // row["layers"]
    return {
        "parameter": params,
        "blocks": params - root,
        "block": (params - root) // row["layers"],
        "root": root,
        "shape": dense_block + row["vocab"] * row["d_model"],
    }


def _widths(job: FrameworkJob, row: Mapping[str, Any]) -> dict[str, float]:
    """Elements of one tensor of a layer, by kind of tensor."""
    tokens = job.batch * job.seq
    stream = job.tensor if "sequence_parallel" in job.traits else 1
    query = tokens * row["d_model"] / job.tensor
    key = query * row["kv_heads"] / row["heads"]
    return {
        "token": tokens,
        "head": tokens * row["heads"],
        "residual": tokens * row["d_model"] / stream,
        "query": query,
        "key": key,
        "stream": tokens * row["d_model"],
        # Keys and values that grouped-query attention repeats, in the dry run.
        "repeated": 2 * query if 1 < row["kv_heads"] < row["heads"] else 0,
        "ffn": tokens * row["d_ff"],
        "score": tokens * row["heads"] * job.seq,
    }


def _counts(
    job: FrameworkJob, row: Mapping[str, Any], batches: float
) -> dict[str, float]:
    """Counts each unit of the table in the rank's part."""
    parameters, widths = _parameters(job, row), _widths(job, row)
    runs_again = row["checkpoint"].startswith("every")
    kept = 0 if runs_again else row["layers"] * (1 - job.recomputed)
    layers = {
        "layer": row["layers"],
        "kept_layer": kept,
        "kept_attention": kept if row["checkpoint"] == "none" else 0,
    }
    weights, optimizer = row["parameter_bytes"], row["optimizer_bytes"]
    return {
        "once": 1,
        "shard": parameters["parameter"] / job.shards,
        "block_shard": parameters["block"] / job.shards,
        "logit": job.batch * job.seq * row["vocab"],
        "mask": job.batch * job.seq**2,
        "saved": _saved(job, row, batches),
        "dry_weights": weights,
        "dry_optimizer": optimizer,
        "dry_gradients": row["gradient_bytes"],
        "dry_rest": row["predicted_peak_bytes"] - weights - optimizer,
        "rest_2": _rest_of_segment(2 * parameters["parameter"]),
        "rest_4": _rest_of_segment(4 * parameters["parameter"]),
        **parameters,
        **widths,
        **{
            f"{unit}_per_{name}": count * number
            for unit, count in widths.items()
            for name, number in layers.items()
        },
    }


def _rest_of_segment(size: int) -> int:
    """Bytes that PyTorch's allocator adds to a large new tensor: the rest of its
    segment, which is a multiple of 2 MiB, remains undivided up to 1 MiB."""
    rest = -size % (2 * _MIB)
    return rest if size >= 10 * _MIB and rest <= _MIB else 0


def _saved(job: FrameworkJob, row: Mapping[str, Any], batches: float) -> float:
    """Bytes that the part's forward pass saves, by the dry run."""
    divided = job.tensor if "sequence_parallel" in job.traits else 1

    def own(component: str, amount: int) -> float:
        return amount * batches // (divided if component in OF_STREAM else 1)

    saved: dict[str, dict[str, int]] = row["saved_by_component"]
    total = sum(own(component, part["bytes"]) for component, part in saved.items())
    if not job.recomputed:
        return total
    block = sum(
        own(tensor["component"], tensor["bytes"])
        for tensor in row["saved_tensors_per_block"]
    )
    again: float = job.recomputed * row["layers"]
    return total - again * (block - own("residual", row["residual_bytes"]))


def memory(
    job: FrameworkJob, recipe: Recipe, row: Mapping[str, Any], batches: float = 1
) -> Memory:
    """Predicts the job's memory; `row` is the program's answer to its flags, with
    1 / `batches` of its batch."""
    counts = _counts(job, row, batches)
    parts: dict[str, dict[str, int]] = {}
    for item in recipe.of(job.traits):
        amount = round(item.bytes_each * counts[item.unit])
        parts.setdefault(item.part, {})[item.name] = amount
    static, gradient, reserved = (
        parts.pop(part, {}) for part in (_STATIC, _GRADIENT, _RESERVED)
    )
    moments = (
        {**(gradient if _MOMENTS[moment] else {}), **items}
        for moment, items in parts.items()
    )
    highest = max(moments, key=lambda items: sum(items.values()), default={})
    return Memory(static, gradient, highest, reserved)


def _largest_batch(
    job: FrameworkJob, recipe: Recipe, row: Mapping[str, Any], budget: int
) -> int | None:
    """The largest batch that fits. Returns None if the recipe uses the peak of the dry
    run, which is not proportional to the batch."""
    if "dry" in {item.part for item in recipe.of(job.traits)}:
        return None

    def peak(batch: int) -> int:
        larger = replace(job, batch=batch)
        return memory(larger, recipe, row, batch / job.batch).bytes_of("peak")

    return bisect_right(range(1, 2**20), budget, key=peak)


def add_flags(parser: argparse.ArgumentParser) -> None:
    known = recipes()
    add = parser.add_argument
    add("--recipe", choices=known, help="predict a rank's memory in this framework")
    add(
        "--traits",
        metavar="WORDS",
        help="for --recipe, words of recipes.tsv: "
        + "; ".join(f"{name}: {_traits(recipe)}" for name, recipe in known.items()),
    )
    add(
        "--shards",
        type=number(1, 2**20, whole=True),
        help="ranks that divide the sharded tensors, for --recipe (1)",
    )
    add(
        "--recomputed",
        type=number(0, 1),
        help="share of the blocks that the backward pass recomputes, for --recipe, "
        "where --checkpoint is none (0)",
    )


def _traits(recipe: Recipe) -> str:
    default = ",".join(sorted(recipe.default)) or "none"
    return f"{', '.join(sorted(recipe.words()))} ({default})"


def traits(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> frozenset[str]:
    """Reads --traits, and exits with the parser's error if one is unknown."""
    recipe = recipes()[given.recipe]
    found = frozenset(given.traits.split(",") if given.traits else recipe.default)
    allowed = sorted(recipe.words())
    for word in sorted(found.difference(allowed)):
        parser.error(f"--traits has {word!r}; allowed: {', '.join(allowed)}")
    return found


def predicted(
    given: argparse.Namespace,
    traits: frozenset[str],
    row: Mapping[str, Any],
    query: Mapping[str, Any],
) -> dict[str, Any]:
    """Predicts a rank's memory for a row of the plan. Raises ValueError if the row
    cannot be in this recipe."""
    recipe, recomputed = recipes()[given.recipe], given.recomputed or 0
    if row["precision"] not in recipe.precisions:
        raise ValueError(
            f"--precision is {row['precision']}; allowed with "
            f"--recipe={given.recipe}: {', '.join(recipe.precisions)}"
        )
    if recomputed and row["checkpoint"] != "none":
        raise ValueError(
            f"--checkpoint is {row['checkpoint']}; allowed with --recomputed: none"
        )
    if recomputed and "saved" not in {item.unit for item in recipe.of(traits)}:
        raise ValueError(
            f"--recomputed is {recomputed:g}; allowed with "
            f"--recipe={given.recipe} and these traits: 0"
        )
    shape = (query["batch"], query["seq"], query["tensor_ranks"])
    job = FrameworkJob(
        *("", *shape),
        recomputed=recomputed,
        shards=given.shards or 1,
        traits=traits,
    )
    found = memory(job, recipe, row)
    totals = {f"{what}_bytes": found.bytes_of(what) for what in TOTALS}
    budget = query["device_memory_bytes"]
    return {
        "name": given.recipe,
        "fits": totals["peak_bytes"] <= budget,
        "largest_batch": _largest_batch(job, recipe, row, budget),
        **totals,
        **asdict(found),
    }
