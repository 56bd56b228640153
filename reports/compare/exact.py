# SPDX-License-Identifier: MIT
"""Counters that do not depend on time: any difference is a change."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from reports.results.counters import Counter
from reports.results.rows import Row


class Change(StrEnum):
    WORSE = "WORSE"
    BETTER = "BETTER"
    CHANGED = "CHANGED"  # the row does different work under the same name
    LOST = "LOST"  # only the base side has it


@dataclass(frozen=True)
class MetricChange:
    metric: str
    unit: str
    base: float
    new: float | None  # None: lost
    change: Change


def _apart(
    counter: Counter, base: Sequence[float], new: Sequence[float]
) -> Change | None:
    """Returns the direction in which the processes of the new side differ, if they do.

    Without a tolerance one value that no base process has is a change, without a
    direction if it is between others. With a tolerance the ranges of both sides must be
    further apart than the tolerance.
    """
    slack = 1 + counter.tolerance
    if counter.tolerance:
        more, less = min(new) > max(base) * slack, max(new) * slack < min(base)
    else:
        more, less = max(new) > max(base), min(new) < min(base)
    is_between = not (more or less)
    if is_between and (counter.tolerance or {*new} <= {*base}):
        return None
    if is_between or counter.direction == "same":
        return Change.CHANGED
    is_worse = more if counter.direction == "lower" else less
    return Change.WORSE if is_worse else Change.BETTER


# For these, the new side's minimum shows the change most clearly, else its maximum.
_LEAST = ((Change.BETTER, "lower"), (Change.WORSE, "higher"))


def _values(counter: str, rows: Sequence[Row]) -> list[float]:
    return [
        value
        for row in rows
        if counter in row.counters
        for value in row.each.get(counter, (row[counter],))
    ]


def changes(base: Sequence[Row], new: Sequence[Row]) -> list[MetricChange]:
    """Returns the changed counters of one row; a side has one or more processes."""
    found = []
    tables = {name: row.table for row in base for name in row.counters}
    for name, table in tables.items():
        counter = table.find(name)
        if not counter.is_compared:
            continue
        befores, afters = _values(name, base), _values(name, new)
        change = _apart(counter, befores, afters) if afters else Change.LOST
        if change is not None:
            worst = min if (change, counter.direction) in _LEAST else max
            others = {*afters} - {*befores}
            ends = max(befores), worst(others, default=None)
            found.append(MetricChange(name, counter.unit, *ends, change))
    return found
