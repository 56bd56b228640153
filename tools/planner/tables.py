# SPDX-License-Identifier: MIT
"""Tables of JSON rows: a column is a heading and a function of a row."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from reports.results import text

Json = Mapping[str, Any]
Cell = Callable[[Any], str]
Columns = dict[str, Cell]
counted = "{:,}".format


def yes(value: bool) -> str:
    return "yes" if value else "no"


def at(path: str, shown: Cell = str) -> Cell:
    """Returns the cell of the value at a path such as "training.mfu"; "-" for none."""

    def cell(row: Json) -> str:
        value: Any = row
        for key in path.split("."):
            value = None if value is None else value.get(key)
        return "-" if value is None else shown(value)

    return cell


def each(
    rows: Iterable[Json],
    values: Callable[[Json], Json],
    shown: Cell,
    missing: str = "-",
) -> Columns:
    """Returns a column for each key of the rows' values."""

    def column(name: str) -> Cell:
        def cell(row: Json) -> str:
            found = values(row)
            return shown(found[name]) if name in found else missing

        return cell

    return {name: column(name) for row in rows for name in values(row)}


def table(
    rows: Sequence[Json],
    columns: Columns,
    left: Collection[int] = (0,),
    title: str = "",
) -> str:
    """Formats a line of headings and a line for each row, below the title."""
    lines = [[*columns], *([cell(row) for cell in columns.values()] for row in rows)]
    return "\n".join([*([title] if title else []), *text.columns(lines, left)])
