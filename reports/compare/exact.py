# SPDX-License-Identifier: MIT
"""Metrics that do not depend on time: any difference is a change."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from reports.results.rows import Row


class Change(StrEnum):
    WORSE = "WORSE"
    BETTER = "BETTER"
    CHANGED = "CHANGED"  # the row of this name does other work
    LOST = "LOST"  # only the base side has it


@dataclass(frozen=True)
class Metric:
    name: str
    less_is_better: bool = True
    tolerance: float = 0  # relative; 0: equality


# `calls` is a count in `breakdown`, and a parameter elsewhere.
METRICS = (
    Metric("params", less_is_better=False),
    Metric("flops"),
    Metric("bytes"),
    # The peak moves by a block or two with the order in which threads free.
    Metric("peak_bytes", tolerance=0.001),
    Metric("predicted_peak_bytes"),
    Metric("saved_bytes"),
    Metric("predicted_saved_bytes"),
    Metric("checkpointed_peak_bytes"),
    Metric("checkpointed_flops"),
    Metric("state_bytes"),
    Metric("largest_allocation_bytes"),
    # The caching allocator's segments depend on the cases before this one.
    Metric("peak_reserved_bytes", tolerance=0.02),
    Metric("calls"),
    Metric("ops_per_step"),
    Metric("kernels_per_step"),
    Metric("communication_calls"),
    Metric("communication_bytes"),
    Metric("copied_bytes"),
)


@dataclass(frozen=True)
class MetricChange:
    metric: str
    base: float
    new: float | None  # None: lost
    change: Change


def _apart(
    metric: Metric, base: Sequence[float], new: Sequence[float]
) -> Change | None:
    """The direction in which the processes of the new side differ, if they do.

    Without a tolerance one differing process is a change. With a tolerance the ranges
    of both sides must be further apart than the tolerance.
    """
    slack = 1 + metric.tolerance
    if metric.tolerance:
        more, less = min(new) > max(base) * slack, max(new) * slack < min(base)
    else:
        more, less = max(new) > max(base), min(new) < min(base)
    if not (more or less):
        return None
    if not metric.less_is_better:
        return Change.CHANGED
    return Change.WORSE if more else Change.BETTER


def _values(metric: Metric, rows: Sequence[Row]) -> list[float]:
    return [row[metric.name] for row in rows if metric.name in row.counters]


def changes(base: Sequence[Row], new: Sequence[Row]) -> list[MetricChange]:
    """The changed metrics of one row; each side has one or more processes."""
    found = []
    for metric in METRICS:
        befores, afters = _values(metric, base), _values(metric, new)
        if befores and not afters:
            found.append(MetricChange(metric.name, max(befores), None, Change.LOST))
        change = _apart(metric, befores, afters) if befores and afters else None
        if change is not None:
            worst = min if change is Change.BETTER else max
            found.append(MetricChange(metric.name, max(befores), worst(afters), change))
    return found
