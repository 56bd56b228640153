# SPDX-License-Identifier: MIT
"""Metrics that do not depend on the clock: they are equal, or something changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from reports.rows import Row


class Change(StrEnum):
    WORSE = "WORSE"
    BETTER = "BETTER"
    CHANGED = "CHANGED"  # the row of that name is another job


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
    new: float
    change: Change


def _apart(
    metric: Metric, base: Sequence[float], new: Sequence[float]
) -> Change | None:
    """Where a side itself varies, only what lies outside all of it has changed."""
    slack = 1 + metric.tolerance
    more = min(new) > max(base) * slack
    less = max(new) * slack < min(base)
    if not (more or less):
        return None
    if not metric.less_is_better:
        return Change.CHANGED
    return Change.WORSE if more else Change.BETTER


def changes(base: Sequence[Row], new: Sequence[Row]) -> list[MetricChange]:
    """Of one row in the processes of each side; neither may be empty."""
    found = []
    for metric in METRICS:
        befores = [row[metric.name] for row in base if metric.name in row.counters]
        afters = [row[metric.name] for row in new if metric.name in row.counters]
        if not befores or not afters:
            continue
        change = _apart(metric, befores, afters)
        if change is not None:
            worst = max if change is not Change.BETTER else min
            found.append(MetricChange(metric.name, max(befores), worst(afters), change))
    return found
