# SPDX-License-Identifier: MIT
"""Reads measured points as jobs, from a table with columns of points.tsv."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tools.planner.recipes import TOTALS, FrameworkJob, layers, recipes
from tools.planner.validation import cells
from tools.planner.validation.cells import Lacks, Row

_NEEDED = (*cells.SHARED, "gpu", "recipe", "traits", "shards", "checkpoint")


@dataclass(frozen=True)
class Point:
    """The measured bytes of a job."""

    name: str
    row: Row  # its gpu, recipe and assumed
    measured: dict[str, int]  # bytes, by "static", "peak" and "reserved"
    job: FrameworkJob


def _point(name: str, row: Row) -> Point:
    if row["lacks"]:
        raise Lacks(row["lacks"])
    if cells.count(row, "pipeline") > 1:
        raise Lacks("pipeline parallelism")
    recipe = recipes()[cells.one_of("recipe", row["recipe"], recipes())]
    part = cells.part(row)
    traits = frozenset(row["traits"].split())
    try:
        recipe.check(traits)
    except ValueError as error:
        raise Lacks(f"{cells.KNOWN}traits: {error}") from error
    cells.one_of("precision", part["precision"], recipe.named("precision", traits))
    share = cells.number(row, "recomputed", 0, 1)
    job = FrameworkJob(
        _model(row, traits),
        **part,
        recomputed=share if row["checkpoint"] == "none" else 0,
        shards=cells.count(row, "shards"),
        traits=traits,
        experts=cells.count(row, "experts") if row["experts"] else 1,
    )
    measured = {what: cells.count(row, what) for what in TOTALS if row[what]}
    kept = {key: row[key] for key in ("gpu", "recipe", "assumed")}
    return Point(name, kept, measured, job)


def _model(row: Row, traits: frozenset[str]) -> str:
    recipe, checkpoint = row["recipe"], row["checkpoint"]
    # Megatron: --make-vocab-size-divisible-by
    multiple = 128 if recipe == "megatron" else 1
    return cells.model(
        row,
        pad_vocab=multiple * cells.count(row, "tensor"),
        **layers(recipe, traits, checkpoint, row["implementation"]),
        checkpoint=checkpoint,
    )


def read_points(path: Path) -> Iterator[tuple[str, Callable[[], Point]]]:
    """Yields a name and a function that makes the point, or raises Lacks, for each row
    of a file. Raises ValueError for other columns."""
    for name, row in cells.read(path, _NEEDED):
        yield name, partial(_point, name, row)
