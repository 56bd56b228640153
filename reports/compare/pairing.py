# SPDX-License-Identifier: MIT
"""Which processes of the two sides are neighbours in time."""

import math
from collections.abc import Sequence

from reports.rows import Result, Row

Rows = dict[str, Row]


def in_order(results: Sequence[Result]) -> list[Result]:
    """By the time at which they began; ISO 8601 dates of one zone sort as text."""
    return sorted(results, key=lambda result: result.context.get("date", ""))


def alternate(base: Sequence[Result], new: Sequence[Result]) -> bool:
    """Whether the sides took turns, as in A B B A: neither ever leads by two.

    Only then is what drifts shared by both. Starts in the same second are taken
    to be in the best order.
    """
    if len(base) != len(new):
        return False
    starts: dict[str, int] = {}
    for sign, results in ((1, base), (-1, new)):
        for result in results:
            date = result.context.get("date")
            if date is None:
                return False
            starts[date] = starts.get(date, 0) + sign
    lead = 0
    for date in sorted(starts):
        lead += starts[date]
        if abs(lead) > 1:
            return False
    return True


def by_name(result: Result) -> Rows:
    return {row.name: row for row in result.rows}


def log_ratios(base: Sequence[Rows], new: Sequence[Rows], name: str) -> list[float]:
    """log(new time / base time) of each pair that has both."""
    return [
        math.log(two[name].time_us / one[name].time_us)
        for one, two in zip(base, new, strict=True)
        if name in one and name in two
    ]
