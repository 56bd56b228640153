# SPDX-License-Identifier: MIT
"""Which tensors and workspaces a framework keeps: rows of recipes.tsv."""

import argparse
import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reports.compare.argument_types import number

TABLE = Path(__file__).with_name("recipes.tsv")
_TRAITS = "bf16,te,hopper,fused"
# What a rank keeps of the residual stream is divided by sequence parallelism.
_OF_STREAM = ("embedding", "norm", "residual")


@dataclass(frozen=True)
class Job:
    """One rank's part of a training job.

    `traits` are the words that rows of recipes.tsv ask for. Ranks that divide the state
    of the optimizer are `shards`.
    """

    model: str  # as tools/plan --model
    batch: int
    seq: int
    tensor: int = 1
    shards: int = 1
    traits: frozenset[str] = frozenset()

    def flags(self) -> list[str]:
        """Of the program: its row says what the part takes."""
        name = self.model.partition("name=")[2].partition(",")[0]
        return [
            *(f"--model={self.model}", f"--models={name}", "--precision=bf16"),
            *(f"--batch={self.batch}", f"--seq={self.seq}"),
            f"--tensor_ranks={self.tensor}",
        ]


@dataclass(frozen=True)
class Item:
    """A row of the table."""

    part: str  # static: always there; peak: at the loss
    name: str
    unit: str
    bytes_each: int
    where: frozenset[str]


@dataclass(frozen=True)
class Memory:
    """Bytes by name, which add up."""

    static: dict[str, int]
    peak: dict[str, int]  # what is added to it there

    def bytes_of(self, what: str) -> int:
        """Of static or peak, which has all of static."""
        at_peak = self.peak.values() if what == "peak" else ()
        return sum((*self.static.values(), *at_peak))


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def recipes() -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for row in read_table(TABLE):
        where, amount = frozenset(row["where"].split()), int(row["bytes"])
        item = Item(row["part"], row["item"], row["unit"], amount, where)
        found.setdefault(row["recipe"], []).append(item)
    return found


def _counts(job: Job, row: Mapping[str, Any]) -> dict[str, float]:
    """How many of each unit the part has."""
    stream = job.tensor if "sequence_parallel" in job.traits else 1
    residual = job.batch * job.seq * row["d_model"] / stream
    layers = row["layers"] if row["checkpoint"] == "none" else 0
    attention = job.batch * job.seq * row["d_model"] / job.tensor
    scores = job.batch * row["heads"] * job.seq**2
    return {
        "once": 1,
        "parameter": row["params"],
        "shard": row["params"] / job.shards,
        "logit": job.batch * job.seq * row["vocab"],
        "residual": residual,
        "residual_per_layer": residual * layers,
        "attention_per_layer": attention * layers,
        "score": scores,
        "score_per_layer": scores * layers,
    }


def _saved(job: Job, row: Mapping[str, Any]) -> int:
    """What the forward pass of the part keeps, by the dry run."""
    divided = job.tensor if "sequence_parallel" in job.traits else 1
    saved: dict[str, dict[str, int]] = row["saved_by_component"]
    return sum(
        part["bytes"] // (divided if component in _OF_STREAM else 1)
        for component, part in saved.items()
    )


def memory(job: Job, recipe: Sequence[Item], row: Mapping[str, Any]) -> Memory:
    """`row` is what the program answers to the job's flags."""
    counts = _counts(job, row)
    parts: dict[str, dict[str, int]] = {"static": {}, "peak": {}}
    for item in recipe:
        if item.where <= job.traits:
            parts[item.part][item.name] = round(item.bytes_each * counts[item.unit])
    parts["peak"]["activations"] = _saved(job, row)
    return Memory(**parts)


def add_flags(parser: argparse.ArgumentParser) -> None:
    known = recipes()
    add = parser.add_argument
    add(
        "--recipe",
        choices=known,
        help="say what a rank keeps in this framework, with --precision=bf16",
    )
    add(
        "--traits",
        metavar="WORDS",
        help=f"for --recipe, of {', '.join(sorted(_words(known)))} ({_TRAITS})",
    )
    add(
        "--shards",
        type=number(1, 2**20, whole=True),
        help="ranks that divide the optimizer's state, for --recipe (1)",
    )


def _words(known: Mapping[str, Sequence[Item]]) -> set[str]:
    """That rows ask for, or that divide what is kept."""
    words = {word for items in known.values() for item in items for word in item.where}
    return {*words, "sequence_parallel"}


@dataclass(frozen=True)
class Planned:
    """What the flags ask."""

    name: str
    shards: int
    traits: frozenset[str]

    def of(self, row: Mapping[str, Any], query: Mapping[str, Any]) -> dict[str, Any]:
        """Of a row of the plan."""
        shape = (query["batch"], query["seq"], query["tensor_ranks"])
        found = memory(
            Job("", *shape, self.shards, self.traits), recipes()[self.name], row
        )
        totals = {f"{what}_bytes": found.bytes_of(what) for what in ("static", "peak")}
        return {"name": self.name, **totals, "static": found.static, "peak": found.peak}


def planned(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> Planned | None:
    """An error of the parser if the flags do not fit together."""
    if not given.recipe:
        for flag in ("traits", "shards"):
            if getattr(given, flag):
                value = getattr(given, flag)
                parser.error(f"--{flag} is {value!r}; allowed: only with --recipe")
        return None
    traits = frozenset((given.traits or _TRAITS).split(","))
    allowed = _words({given.recipe: recipes()[given.recipe]})
    for word in sorted(traits - allowed):
        parser.error(f"--traits has {word!r}; allowed: {', '.join(sorted(allowed))}")
    return Planned(given.recipe, given.shards or 1, traits)
