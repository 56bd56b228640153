# SPDX-License-Identifier: MIT
"""The cells of points.tsv."""

import argparse
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from reports.compare import argument_types
from tools.planner.recipes import read_table

DATA = Path(__file__).resolve().parents[3] / "reports/reference/public"
Row = dict[str, str]
KNOWN = "cells of a known form: "
# Columns of points.tsv with the name of their key in --model.
_OF_MODEL = (
    *("d_model", "d_ff", "layers", "heads", "kv_heads", "vocab", "tied_embeddings"),
    *("mlp", "norm", "biases", "positions"),
)
# Columns that each measured job needs.
SHARED = (
    *("model", *_OF_MODEL, "seq", "batch", "precision", "mode"),
    *("tensor", "pipeline", "recomputed", "implementation"),
)


class Lacks(ValueError):
    """Says why no job can express a measured point."""


def read(path: Path, needed: Collection[str]) -> Iterator[tuple[str, Row]]:
    """Yields the name and the cells of each row of a table in the columns of
    points.tsv; `needed` must be there, and others can be empty. Raises ValueError for
    other columns."""
    rows, allowed = read_table(path), _columns()
    if not rows:
        raise ValueError(f"{path} has no row")
    if wrong := [str(column) for column in rows[0] if column not in allowed]:
        names = ", ".join(allowed)
        raise ValueError(
            f"{path} has the columns {', '.join(wrong)}; allowed: those of points.tsv, "
            f"{names}"
        )
    if missing := [column for column in needed if column not in rows[0]]:
        raise ValueError(f"{path} lacks the columns {', '.join(missing)}")
    for row in rows:
        filled = {key: row.get(key) or "" for key in allowed}
        yield f"{filled['id']} {filled['model']}".strip(), filled


@cache
def _columns() -> tuple[str, ...]:
    return tuple(read_table(DATA / "points.tsv")[0])


def number(
    row: Row, column: str, least: float, most: float, whole: bool = False
) -> float:
    """Reads a cell. Raises Lacks if it is no number of this range."""
    try:
        return argument_types.number(least, most, whole)(row[column])
    except argparse.ArgumentTypeError as error:
        raise Lacks(f"{KNOWN}{column}: {error}") from error


def count(row: Row, column: str) -> int:
    return int(number(row, column, 1, 2**50, whole=True))


def one_of(column: str, word: str, allowed: Collection[str]) -> str:
    """Returns the word of a cell. Raises Lacks if it is not allowed."""
    if word not in allowed:
        raise Lacks(f"{KNOWN}{column}: it is {word!r}; allowed: {', '.join(allowed)}")
    return word


def fields(**values: object) -> str:
    """Formats a value of --model; empty fields are left out."""
    return ",".join(f"{key}={value}" for key, value in values.items() if value)


def model(row: Row, **setting: object) -> str:
    """Formats the model of a row of points.tsv as a value of --model."""
    context = row["seq"] if row["positions"] == "learned" else ""
    return fields(**{key: row[key] for key in _OF_MODEL}, context=context, **setting)


def part(row: Row) -> dict[str, Any]:
    """Returns the fields of a Job except for its model and `recomputed`. The program
    lacks fp16; bf16 has the same bytes and rates."""
    precision = row["precision"]
    return {
        **{name: count(row, name) for name in ("batch", "seq", "tensor")},
        "precision": "bf16" if precision == "fp16" else precision,
        "mode": row["mode"],
    }
