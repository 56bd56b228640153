# SPDX-License-Identifier: MIT
"""The tensors and workspaces that a framework keeps: rows of recipes.tsv."""

import argparse
import csv
import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from reports.compare.argument_types import number
from tools.planner.formulas import evaluate

TABLE = Path(__file__).with_name("recipes.tsv")
UNITS = Path(__file__).with_name("units.tsv")
RULES = tuple(
    (flag, "with", ("recipe",)) for flag in ("traits", "shards", "recomputed")
)
_MIB = 2**20
TOTALS = ("static", "peak", "reserved")
# Components of the residual stream, which sequence parallelism divides.
OF_STREAM = ("embedding", "norm", "residual")
# Parts that say which traits a job can have together. A job has at most one of an
# item's words, and at least so many.
_CHOICES = {
    "needs": (1, "it also needs"),
    "one of": (1, "it needs exactly one of"),
    "at most one of": (0, "allowed: at most one of"),
}
# Moments that may be the peak, and whether gradients are allocated then. `dry` is the
# peak of the dry run.
MOMENTS = {"loss": False, "dry": False, "backward": True, "step": True}


@dataclass(frozen=True)
class Job:
    """One rank's part of a training job.

    `recomputed` is the share of the blocks that the framework recomputes, keeping only
    their inputs.
    """

    model: str  # as tools/plan --model, without its name; or a name alone
    batch: int
    seq: int
    tensor: int = 1
    precision: str = "bf16"
    mode: str = "train_step"
    recomputed: float = 0

    def request(self) -> dict[str, Any]:
        """The program answers with a row for this part."""
        model = f"name=job,{self.model}" if "=" in self.model else self.model
        return {
            **{"model": model, "precision": self.precision},
            **{"mode": self.mode, "batch": self.batch, "seq": self.seq},
            "tensor_ranks": self.tensor,
        }


# Returns the program's row for a job's request.
Plan = Callable[[Job], Mapping[str, Any]]


@dataclass(frozen=True)
class FrameworkJob(Job):
    """A job of a framework. `traits` are words of the column `where` in recipes.tsv."""

    shards: int = 1  # ranks that divide the framework's sharded tensors
    traits: frozenset[str] = frozenset()
    experts: int = 1

    @property
    def stream_ranks(self) -> int:
        """Ranks that divide the residual stream."""
        return self.tensor if "sequence_parallel" in self.traits else 1


@dataclass(frozen=True)
class Recipe:
    rows: list[Mapping[str, str]]  # of recipes.tsv

    def of(self, traits: frozenset[str]) -> list[Mapping[str, str]]:
        """The rows of a job with these traits."""
        return [row for row in self.rows if traits.issuperset(row["where"].split())]

    def named(self, part: str, traits: frozenset[str] = frozenset()) -> list[str]:
        """The items of "precision", of "implementation", the last of them the layers',
        of "default", the traits by default, or of a choice."""
        return [row["item"] for row in self.of(traits) if row["part"] == part]

    def words(self) -> set[str]:
        """Traits that rows require, or that divide the saved activations."""
        return {"sequence_parallel"}.union(*(row["where"].split() for row in self.rows))

    def check(self, traits: frozenset[str]) -> None:
        """Raises ValueError if no job can have these traits."""
        allowed = sorted(self.words())
        for word in sorted(traits.difference(allowed)):
            raise ValueError(f"it has {word!r}; allowed: {', '.join(allowed)}")
        given = ",".join(sorted(traits))
        for part, (least, rule) in _CHOICES.items():
            for words in map(str.split, self.named(part, traits)):
                if not least <= len(traits.intersection(words)) <= 1:
                    raise ValueError(f"it is {given!r}; {rule} {', '.join(words)}")


@dataclass(frozen=True)
class Memory:
    """Bytes by item; no byte is counted twice."""

    static: dict[str, int]  # allocated from the first step on
    gradient: dict[str, int]  # after a step, until the next one begins
    peak: dict[str, int]  # in addition to static
    reserved: dict[str, int]  # beyond the peak, for other streams

    def bytes_of(self, what: str) -> int:
        """Total of static with gradients, of the peak, or of what is reserved."""
        parts = {
            "static": (self.gradient,),
            "peak": (self.peak,),
            "reserved": (self.peak, self.reserved),
        }
        more = (sum(part.values()) for part in parts[what])
        return sum(self.static.values()) + sum(more)


def layers(
    recipe: str, traits: frozenset[str], checkpoint: str, implementation: str = ""
) -> dict[str, str]:
    """The layers, as in a request, that save what the framework's save; by default of
    the recipe's implementation."""
    # A checkpoint saves the residual sum, which fused blocks leave to the next.
    if checkpoint.startswith("every"):
        implementation = "library"
    elif not implementation:
        (*_, implementation) = recipes()[recipe].named("implementation", traits)
    fused = "own" if recipe == "megatron" or implementation == "fused" else "sdpa"
    attention = "naive" if traits & {"unfused", "scores"} else fused
    return {"implementation": implementation, "attention": attention}


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def recipes() -> dict[str, Recipe]:
    found: dict[str, Recipe] = defaultdict(lambda: Recipe([]))
    for row in read_table(TABLE):
        found[row["recipe"]].rows.append(row)
    return dict(found)


@cache
def _units() -> list[dict[str, str]]:
    return read_table(UNITS)


def _counts(
    job: FrameworkJob, row: Mapping[str, Any], batches: float
) -> Callable[[str], float]:
    """Returns a function that counts a unit of the table in the rank's part."""
    of, again = row["params_by_component"], row["checkpoint"].startswith("every")
    known: dict[str, Any] = {
        **row,
        **vars(job),
        "embedding": of["embedding"],
        "lm_head": of.get("lm_head", 0),
        "ffn_params": of["ffn"],
        "routed_experts": job.experts if job.experts > 1 else 0,
        "stream_ranks": job.stream_ranks,
        "repeats": 1 < row["kv_heads"] < row["heads"],
        "kept": 0 if again else 1 - job.recomputed,
        "keeps_attention": row["checkpoint"] == "none",
        "saved": _saved(job, row, batches),
        "rest": _rest_of_segment,
    }
    for unit in _units():
        try:
            known[unit["unit"]] = evaluate(unit["formula"], known)
        except (NameError, SyntaxError, TypeError) as error:
            raise ValueError(f"{UNITS}, {unit['unit']}: {error}") from error
    return lambda unit: math.prod(known[part] for part in unit.split("_per_"))


def _rest_of_segment(size: float) -> float:
    """Bytes that PyTorch's allocator adds to a large new tensor: the rest of its
    segment, which is a multiple of 2 MiB, remains undivided up to 1 MiB."""
    rest = -size % (2 * _MIB)
    return rest if size >= 10 * _MIB and rest <= _MIB else 0


def _saved(job: FrameworkJob, row: Mapping[str, Any], batches: float) -> float:
    """Bytes that the part's forward pass saves, by the dry run."""

    def own(component: str, amount: int) -> float:
        return amount * batches // (job.stream_ranks if component in OF_STREAM else 1)

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
    """Predicts the job's memory; `row` is the program's answer to its request,
    with 1 / `batches` of its batch."""
    count = _counts(job, row, batches)
    parts: dict[str, dict[str, int]] = defaultdict(dict)
    for item in recipe.of(job.traits):
        if not item["unit"]:
            continue
        bytes_ = round(float(item["bytes"]) * count(item["unit"]))
        parts[item["part"]][item["item"]] = bytes_
    moments = (
        {**(parts["gradient"] if has_gradients else {}), **parts[moment]}
        for moment, has_gradients in MOMENTS.items()
        if moment in parts
    )
    highest = max((*moments, parts["gradient"]), key=lambda items: sum(items.values()))
    return Memory(parts["static"], parts["gradient"], highest, parts["reserved"])


def _largest_batch(
    job: FrameworkJob, recipe: Recipe, row: Mapping[str, Any], budget: int
) -> int | None:
    """The largest batch that fits. Returns None if the recipe uses the peak of the dry
    run, which is not proportional to the batch."""
    if "dry" in {item["part"] for item in recipe.of(job.traits)}:
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
    default = ",".join(sorted(recipe.named("default"))) or "none"
    return f"{', '.join(sorted(recipe.words()))} ({default})"


def traits(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> frozenset[str]:
    """Reads --traits, and exits with the parser's error if no job can have them."""
    recipe = recipes()[given.recipe]
    words = given.traits.split(",") if given.traits else []
    found = frozenset(recipe.named("default") if given.traits is None else words)
    try:
        recipe.check(found)
    except ValueError as error:
        parser.error(f"argument --traits: {error}")
    return found


def predicted(
    given: argparse.Namespace,
    traits: frozenset[str],
    row: Mapping[str, Any],
    query: Mapping[str, Any],
) -> dict[str, Any]:
    """Predicts a rank's memory for a row of the plan. Raises ValueError if the row
    cannot be in this recipe."""
    recipe = recipes()[given.recipe]
    recomputed, shards = given.recomputed or 0, given.shards or 1
    precisions = recipe.named("precision", traits)
    units = {item["unit"] for item in recipe.of(traits)}

    def refuse(flag: str, value: object, allowed: str) -> NoReturn:
        given_here = f"--recipe={given.recipe} and these traits"
        raise ValueError(f"--{flag} is {value}; allowed with {given_here}: {allowed}")

    if row["precision"] not in precisions:
        refuse("precision", row["precision"], ", ".join(precisions))
    if row["mode"] != "train_step" and "dry_rest" not in units:
        refuse("mode", row["mode"], "train_step")
    if row["checkpoint"] != "none" and not units & {"saved", "dry_rest"}:
        refuse("checkpoint", row["checkpoint"], "none")
    if recomputed and row["checkpoint"] != "none":
        raise ValueError(
            f"--checkpoint is {row['checkpoint']}; allowed with --recomputed: none"
        )
    if recomputed and "saved" not in units:
        refuse("recomputed", f"{recomputed:g}", "0")
    if shards > 1 and not units & {"shard", "block_shard"}:
        refuse("shards", shards, "1")
    shape = (query["batch"], query["seq"], query["tensor_ranks"])
    job = FrameworkJob(
        *("", *shape), recomputed=recomputed, shards=shards, traits=traits
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
