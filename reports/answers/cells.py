# SPDX-License-Identifier: MIT
"""Table cells of counters that a row may lack."""

from collections.abc import Callable

from reports.answers.measured import counter_of
from reports.results import text
from reports.results.rows import Row


def optional(row: Row, counter: str, formatted: Callable[[float], str]) -> str:
    """The counter, or "-" if the row lacks it."""
    value = row.get(counter)
    return "-" if value is None else formatted(value)


def hidden(share: float) -> str:
    """Below 0 the exposed communication takes longer than the collectives alone."""
    return text.percent(share) if share > 0 else "none"


def with_interval(row: Row, counter: str, formatted: Callable[[float], str]) -> str:
    """With that, if it is known; "-" if the row lacks the counter."""
    if row.get(counter) is None:
        return "-"
    value = counter_of(row, counter)
    return value.text(formatted) if value.is_known else formatted(value.value)


def ratio(row: Row, counter: str, is_baseline: bool) -> str:
    """The ratio to the baseline row, or "-" if the run lacks that row."""
    if is_baseline and row.get(counter) is None:
        return "1"
    return optional(row, counter, text.significant)
