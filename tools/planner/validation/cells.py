# SPDX-License-Identifier: MIT
"""Measured jobs, of bytes or of times, and the cells of points.tsv."""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from reports.compare import argument_types
from reports.results.text import Table
from tools.planner.recipes import read_table

DATA = Path(__file__).resolve().parents[3] / "reports/reference/public"
Row = dict[str, str]
T = TypeVar("T")
# Columns of points.tsv with the name of their key in --model.
_OF_MODEL = (
    *("d_model", "d_ff", "layers", "heads", "kv_heads", "vocab", "tied_embeddings"),
    *("mlp", "norm", "biases", "positions"),
)


class Lacks(Exception):
    """Says why no job can express a measured point."""


@dataclass(frozen=True)
class MeasuredJob:
    """A measured job. If no job of the program can express it, `lacks` says why."""

    name: str
    gpu: str
    lacks: str = field(default="", kw_only=True)


M = TypeVar("M", bound=MeasuredJob)


def expressed(measured: M, with_job: Callable[[M, Row], M], row: Row) -> M:
    """Adds the job that the row describes, or why no job can express it."""
    try:
        return with_job(measured, row)
    except Lacks as lacks:
        return replace(measured, lacks=str(lacks))
    except (KeyError, ValueError, ZeroDivisionError) as error:
        return replace(measured, lacks=f"cells of a known form: {error}")


def judge(
    measured: Iterable[M],
    one: Callable[[M], T],
    errors: tuple[type[Exception], ...] = (Lacks,),
) -> tuple[list[T], list[M]]:
    """Judges each by `one`. Also returns those for which it raises one of the `errors`:
    no job can express them."""
    judged, lacking = [], []
    for each in measured:
        try:
            judged.append(one(each))
        except errors as lacks:
            lacking.append(replace(each, lacks=str(lacks)))
    return judged, lacking


def as_json(lacking: Iterable[MeasuredJob], **parts: object) -> str:
    """Formats the parts, and then what no job can express."""
    parts["lacking"] = [{"name": each.name, "lacks": each.lacks} for each in lacking]
    return json.dumps(parts, indent=2)


def counted(lacking: Iterable[MeasuredJob], what: str) -> Table:
    """Tabulates how many lack the same."""
    counts = Counter(each.lacks for each in lacking).most_common()
    return Table(("lacks", what), [[word, str(count)] for word, count in counts])


def table(
    path: Path, readers: Iterable[tuple[set[str], T]], allowed: str
) -> tuple[list[Row], T]:
    """Returns the rows of a file, and the first reader that needs no other columns. A
    missing cell is empty. Raises ValueError if each reader needs another column;
    `allowed` names files with them."""
    rows = read_table(path)
    columns = list(rows[0]) if rows else []
    for row in rows:
        row |= {key: cell or "" for key, cell in row.items()}
    for needed, read in readers:
        if needed.issubset(columns):
            return rows, read
    raise ValueError(
        f"{path} has the columns {', '.join(columns) or 'of no row'}; "
        f"allowed: the columns of {allowed}"
    )


@cache
def data(name: str) -> list[Row]:
    """Returns the rows of a committed table."""
    return read_table(DATA / name)


def number(
    row: Row, column: str, least: float, most: float, whole: bool = False
) -> float:
    """Reads a cell. Raises ValueError if it is no number of this range."""
    try:
        return argument_types.number(least, most, whole)(row[column])
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"{column}: {error}") from error


def count(row: Row, column: str) -> int:
    return int(number(row, column, 1, 2**50, whole=True))


def one_of(column: str, word: str, allowed: Collection[str]) -> str:
    """Returns the word of a cell. Raises ValueError if it is not allowed."""
    if word not in allowed:
        raise ValueError(f"{column}: it is {word!r}; allowed: {', '.join(allowed)}")
    return word


def fields(**values: object) -> str:
    """Formats a value of --model; empty fields are left out."""
    return ",".join(f"{key}={value}" for key, value in values.items() if value)


def model(row: Row, **setting: object) -> str:
    """Formats the model of a row of points.tsv as a value of --model."""
    context = row["seq"] if row["positions"] == "learned" else ""
    return fields(**{key: row[key] for key in _OF_MODEL}, context=context, **setting)


def precision(row: Row) -> str:
    """Returns bf16 for fp16, which the program lacks: bytes and rates are the same."""
    return "bf16" if row["precision"] == "fp16" else row["precision"]
