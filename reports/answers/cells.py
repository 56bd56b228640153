# SPDX-License-Identifier: MIT
"""Table cells of counters that a row may lack."""

from collections.abc import Callable

from reports.results import text
from reports.results.rows import Row


def optional(row: Row, counter: str, formatted: Callable[[float], str]) -> str:
    """The counter, or "-" if the row lacks it."""
    value = row.get(counter)
    return "-" if value is None else formatted(value)


def ratio(row: Row, counter: str, is_baseline: bool) -> str:
    """The ratio to the baseline row, or "-" if the run lacks that row."""
    if is_baseline and row.get(counter) is None:
        return "1"
    return optional(row, counter, text.significant)
