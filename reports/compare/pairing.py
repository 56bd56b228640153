# SPDX-License-Identifier: MIT
"""Whether the processes of two sides took turns, and the pairs that they form."""

import math
from collections.abc import Sequence
from itertools import pairwise

from reports.compare.intervals import Pair
from reports.results.rows import Result, Row

Rows = dict[str, Row]


def in_order(results: Sequence[Result]) -> list[Result]:
    """Sorts by start time; results without a date come first."""
    return sorted(results, key=lambda result: result.started or -math.inf)


def alternate(base: Sequence[Result], new: Sequence[Result]) -> bool:
    """Returns whether the sides took turns, and took turns at running first.

    Only then does drift affect both sides alike. Neither side may lead by two
    processes, and each must run first in a quarter of the pairs. The order A B A B
    would not cancel a steady drift; A B B A does, and so does a coin per pair.
    """
    sides = [[result.started for result in in_order(side)] for side in (base, new)]
    dates = [[date for date in side if date is not None] for side in sides]
    if len(base) != len(new) or dates != sides:
        return False
    starts = sorted((date, side) for side in (0, 1) for date in dates[side])
    lead = 0
    for (date, side), (following, _) in pairwise([*starts, (math.nan, 0)]):
        lead += 1 - 2 * side
        # Dates are in whole seconds: the order within a second is unknown.
        if abs(lead) > 1 and date != following:
            return False
    base_first = sum(a < b for a, b in zip(*dates, strict=True))
    new_first = sum(a > b for a, b in zip(*dates, strict=True))
    return len(base) < 4 or min(base_first, new_first) >= len(base) // 4


def pairs_of(base: Sequence[Rows], new: Sequence[Rows], name: str) -> list[Pair]:
    """Returns log(new time / base time) of each pair with both times of the row."""
    return [
        Pair(math.log(after[name].time_us / before[name].time_us))
        for before, after in zip(base, new, strict=True)
        if name in before and name in after
    ]
