# SPDX-License-Identifier: MIT
"""Measured jobs, of bytes or of times, and the cells of points.tsv."""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from reports.compare import argument_types
from reports.results.text import Table
from tools.planner.recipes import read_table

DATA = Path(__file__).resolve().parents[3] / "reports/reference/public"
Row = dict[str, str]
R = TypeVar("R")
T = TypeVar("T")
# Columns of points.tsv with the name of their key in --model.
_OF_MODEL = (
    *("d_model", "d_ff", "layers", "heads", "kv_heads", "vocab", "tied_embeddings"),
    *("mlp", "norm", "biases", "positions"),
)


class Lacks(ValueError):
    """Says why no job can express a measured point."""


@dataclass(frozen=True)
class Lacking:
    """A measured job that no job of the program can express."""

    name: str
    lacks: str


@dataclass(frozen=True)
class MeasuredJob:
    name: str


M = TypeVar("M", bound=MeasuredJob)


@dataclass(frozen=True)
class Form:
    """A kind of table: the columns by which it is known, the name of a row, and how a
    row has the columns of points.tsv."""

    file: str
    columns: set[str]
    name: str = "{id} {model}"
    cells: Callable[[Row], Row] = dict


def expressed(
    rows: Iterable[tuple[str, R]], made: Callable[[str, R], M]
) -> Iterator[M | Lacking]:
    """Makes the job of each name and row, or says why no job can express it."""
    for name, row in rows:
        try:
            yield made(name, row)
        except Lacks as lacks:
            yield Lacking(name, str(lacks))
        except (KeyError, ValueError, ZeroDivisionError) as error:
            yield Lacking(name, f"cells of a known form: {error}")


def read(
    path: Path, forms: Sequence[Form], made: Callable[[str, Row], M]
) -> Iterator[M | Lacking]:
    """Reads a table of the first form that needs no other columns; `made` reads a row
    in the columns of points.tsv. A missing cell is empty. Raises ValueError if each
    form needs another column."""
    rows = read_table(path)
    columns = list(rows[0]) if rows else []
    form = next((form for form in forms if form.columns.issubset(columns)), None)
    if form is None:
        *names, last = (form.file for form in forms)
        raise ValueError(
            f"{path} has the columns {', '.join(columns) or 'of no row'}; "
            f"allowed: the columns of {', '.join(names)} or {last}"
        )
    filled = [{key: cell or "" for key, cell in row.items()} for row in rows]
    named = ((form.name.format(**row).strip(), row) for row in filled)
    return expressed(named, lambda name, row: made(name, form.cells(row)))


def judge(
    measured: Iterable[M | Lacking], one: Callable[[M], T]
) -> tuple[list[T], list[Lacking]]:
    """Judges each by `one`. Also returns those that no job can express, or for which
    `one` raises ValueError."""
    judged, lacking = [], []
    for each in measured:
        if isinstance(each, Lacking):
            lacking.append(each)
            continue
        try:
            judged.append(one(each))
        except json.JSONDecodeError:  # not the job's fault
            raise
        except ValueError as lacks:
            lacking.append(Lacking(each.name, str(lacks)))
    return judged, lacking


def as_json(lacking: Iterable[Lacking], **parts: object) -> str:
    """Formats the parts, and then what no job can express."""
    return json.dumps(parts | {"lacking": [*map(asdict, lacking)]}, indent=2)


def counted(lacking: Iterable[Lacking], what: str) -> Table:
    """Tabulates how many lack the same."""
    counts = Counter(each.lacks for each in lacking).most_common()
    return Table(("lacks", what), [[word, str(count)] for word, count in counts])


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


def part(row: Row) -> dict[str, Any]:
    """Returns the fields of a Job except for its model and `recomputed`. The program
    lacks fp16; bf16 has the same bytes and rates."""
    precision = row["precision"]
    return {
        **{name: count(row, name) for name in ("batch", "seq", "tensor")},
        "precision": "bf16" if precision == "fp16" else precision,
        "mode": row["mode"],
    }
