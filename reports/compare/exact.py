# SPDX-License-Identifier: MIT
"""Metrics that do not depend on the clock: they are equal, or something changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from reports.results.rows import Row


class Change(StrEnum):
    WORSE = "WORSE"
    BETTER = "BETTER"
    CHANGED = "CHANGED"  # the row of that name is another job
    LOST = "LOST"  # it was told before, and is not any more


@dataclass(frozen=True)
class Metric:
    name: str
    less_is_better: bool = True
    tolerance: float = 0  # relative; 0: equality


# `calls` is what a row of `breakdown` counted, and a parameter elsewhere.
METRICS = (
    Metric("params", less_is_better=False),
    Metric("flops"),
    Metric("bytes"),
    # Which of two threads frees first moves a measured peak by a block or two.
    Metric("peak_bytes", tolerance=0.001),
    Metric("predicted_peak_bytes"),
    Metric("saved_bytes"),
    Metric("predicted_saved_bytes"),
    Metric("state_bytes"),
    Metric("largest_allocation_bytes"),
    # The caching allocator's segments depend on what ran before.
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
    """What must be equal is so in every process. What has a tolerance is measured: it
    has changed if no process of the one side comes near one of the other.
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
    """Of one row in the processes of each side; neither may be empty."""
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
