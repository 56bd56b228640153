# SPDX-License-Identifier: MIT
"""Headings and formatted values of a row's counters and findings."""

import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import filter as filter_names
from fnmatch import fnmatchcase

from reports.answers.disturbed import modes_of
from reports.answers.measured import Measured, counter_of
from reports.experiments.spec import Column
from reports.results import text
from reports.results.rows import TIME, Row

_PERCENT = (
    *("mfu*", "hfu*", "*share", "*_efficiency", "cv", "rank_spread"),
    *("prediction_error", "matmul_share*"),
)
_SHORT = {
    "p50_us": "time",
    "mfu_measured": "share of the fastest product",
    "bandwidth_share": "share of the best memory rate",
    "flops_per_second": "FLOP rate",
    "bytes_per_second": "byte rate",
    "kernel_flops_per_second": "kernel's FLOP rate",
    "own_peak_bytes": "peak",
    "peak_at": "reached by",
    "largest_allocation_bytes": "single allocation",
    "largest": "made by",
    "hfu_measured": "share with what is computed again",
    "op_us": "time per operator",
    "logit_bytes": "logits",
    "optimal_bucket_mb": "best bucket in MiB",
    "alone_us": "without exchanges",
}
_UNIT = re.compile("_(us|bytes_per_second|per_second|bytes|seconds)$")


def heading_of(counter: str) -> str:
    """Names a counter in words, e.g. first_call_us as "first call"."""
    return _SHORT.get(counter) or _UNIT.sub("", counter).replace("_", " ")


def column_of(named: str | Column) -> Column:
    column = named if isinstance(named, Column) else Column(named)
    if column.heading:
        return column
    names = filter(None, (column.counter, column.per))
    return replace(column, heading=" / ".join(map(heading_of, names)))


def formatted(row: Row, counter: str, value: float, digits: int = 3) -> str:
    if any(fnmatchcase(counter, pattern) for pattern in _PERCENT):
        return text.percent(value)
    return text.with_unit(value, row.table.find(counter).unit, digits)


def value_of(row: Row, column: Column) -> Measured | None:
    """Returns the column's value, or None if the row lacks it."""
    if row.get(column.counter) is None:
        return None
    value = counter_of(row, column.counter)
    if not column.per:
        return value
    return value / counter_of(row, column.per) if row.get(column.per) else None


def cell(row: Row, named: str | Column) -> str:
    """Formats a table cell; a rate omits its interval, because the time shows it."""
    column = column_of(named)
    value = row.get(column.counter)
    if value is None or column.per or row.table.find(column.counter).kind != "rate":
        return shown(row, column)
    return formatted(row, column.counter, value, column.digits)


def also(row: Row, names: Sequence[str], base: Row | None = None) -> str:
    """Continues a clause with the counters and findings of these that the row has, and
    with the values of the baseline that differ."""
    clauses = []
    for name in names:
        if name in row.counters or name in row.findings:
            own, other = cell(row, name), cell(base, name) if base else "-"
            instead = f" instead of {other}" if other not in (own, "-") else ""
            clauses.append(f", {heading_of(name)} {own}{instead}")
    return "".join(clauses)


def shown(row: Row, named: str | Column) -> str:
    """Formats a value with its interval, or a textual result; "-" if there is none."""
    column = column_of(named)
    if column.counter in row.findings:
        return row.findings[column.counter]
    value = value_of(row, column)
    if value is None:
        return "-"
    if column.per:
        return value.text(lambda v: text.significant(v, column.digits))
    said = value.plus_minus(lambda v: formatted(row, column.counter, v, column.digits))
    return f"{said} bimodal" if column.counter == TIME and modes_of(row) else said


def expanded(rows: Sequence[Row], columns: Sequence[str | Column]) -> list[Column]:
    """Expands patterns to the names that match, and drops columns that no row has."""
    names = {name for row in rows for name in (*row.counters, *row.findings)}
    found: list[Column] = []
    for column in map(column_of, columns):
        matching = sorted(filter_names(names, column.counter))
        found += [column] if column.counter in matching else map(column_of, matching)
    return found
