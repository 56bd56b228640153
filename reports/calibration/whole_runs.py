# SPDX-License-Identifier: MIT
"""Checks whether runs of one program on one machine agree within their intervals."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reports.results import text
from reports.results.rows import Result, Row, ends_of

TIME, RATIO = "p50_us", "time_ratio"


@dataclass(frozen=True)
class Agreement:
    """Agreement of one counter, over all pairs of runs and all rows of both runs."""

    pairs: int
    overlap: float  # the share of pairs with intervals that meet
    moves: list[float]  # |log| of the ratio of two runs' values
    half_widths: list[float]  # of each interval, relative

    def move(self, percent: float) -> float:
        return float(np.percentile(self.moves, percent))


def _ends(row: Row, counter: str) -> tuple[float, float] | None:
    low, high = (row.get(end) for end in ends_of(counter))
    return None if low is None or high is None else (low, high)


def _pairs(results: Sequence[Result], counter: str) -> Iterator[tuple[Row, Row]]:
    for one, other in itertools.combinations(results, 2):
        for name in one.by_name.keys() & other.by_name.keys():
            rows = one.by_name[name], other.by_name[name]
            if all(_ends(row, counter) for row in rows):
                yield rows


def agreement(results: Sequence[Result], counter: str) -> Agreement | None:
    """Compares a counter; None if no two results have it and its interval in a row."""
    meet, moves, half_widths = [], [], []
    for rows in _pairs(results, counter):
        (low, high), (least, most) = (_ends(row, counter) or (0, 0) for row in rows)
        meet.append(low <= most and least <= high)
        moves.append(abs(math.log(rows[0][counter] / rows[1][counter])))
        half_widths.append((high - low) / 2 / rows[0][counter])
        half_widths.append((most - least) / 2 / rows[1][counter])
    if not meet:
        return None
    return Agreement(len(meet), sum(meet) / len(meet), moves, half_widths)


def markdown(results: Sequence[Result]) -> str:
    """Formats a table. Errors: ValueError, if no two results have a row in common."""
    times, ratios = agreement(results, TIME), agreement(results, RATIO)
    if times is None:
        raise ValueError("no two results have the time of one row, with its interval")
    lines = [
        ["times: pairs of two runs", str(times.pairs), ""],
        ["whose intervals meet", text.percent(times.overlap), "at least 90 %"],
        ["median row moves by", text.percent(times.move(50)), "at most 3 %"],
        ["90th percentile moves by", text.percent(times.move(90)), "at most 10 %"],
    ]
    if ratios is not None:
        half_width = float(np.median(ratios.half_widths))
        lines += [
            ["ratios of turns: pairs", str(ratios.pairs), ""],
            ["whose intervals meet", text.percent(ratios.overlap), "at least 95 %"],
            ["median half-width", text.percent(half_width), "at most 2 %"],
        ]
    return text.table([f"{len(results)} runs", "found", "goal"], lines)
