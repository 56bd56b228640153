# SPDX-License-Identifier: MIT
"""Which processes of the two sides are neighbours in time."""

import math
from collections.abc import Sequence
from itertools import pairwise

from reports.results.rows import Result, Row

Rows = dict[str, Row]


def in_order(results: Sequence[Result]) -> list[Result]:
    """By the time at which they began; those that do not say first."""
    return sorted(results, key=lambda result: result.started or -math.inf)


def alternate(base: Sequence[Result], new: Sequence[Result]) -> bool:
    """Whether the sides took turns, and took turns at being first.

    Only then is what drifts shared by both: neither side may ever lead by two, and
    each has to be the first one in a quarter of the pairs at least. A B A B lets a
    steady drift through; A B B A does not, nor does a coin per pair.
    """
    sides = [[one.started for one in in_order(side)] for side in (base, new)]
    dates = [[date for date in side if date is not None] for side in sides]
    if len(base) != len(new) or dates != sides:
        return False
    starts = sorted((date, side) for side in (0, 1) for date in dates[side])
    lead = 0
    for (date, side), (following, _) in pairwise([*starts, (math.nan, 0)]):
        lead += 1 - 2 * side
        # Starts of one second are in an order that nobody knows.
        if abs(lead) > 1 and date != following:
            return False
    first = [one < two for one, two in zip(*dates, strict=True)]
    last = [one > two for one, two in zip(*dates, strict=True)]
    return len(base) < 4 or min(sum(first), sum(last)) >= len(base) // 4


def by_name(result: Result) -> Rows:
    return {row.name: row for row in result.rows}


def log_ratios(base: Sequence[Rows], new: Sequence[Rows], name: str) -> list[float]:
    """log(new time / base time) of each pair that has both."""
    return [
        math.log(two[name].time_us / one[name].time_us)
        for one, two in zip(base, new, strict=True)
        if name in one and name in two
    ]
