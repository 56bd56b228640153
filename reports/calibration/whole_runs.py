# SPDX-License-Identifier: MIT
"""Checks whether runs of one program on one machine agree within their intervals."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reports.calibration.samples import Floats
from reports.results import text
from reports.results.rows import Result, ends_of

TIME, RATIO = "p50_us", "time_ratio"


@dataclass(frozen=True)
class Agreement:
    """Agreement of one counter, over all pairs of runs and all rows of both runs."""

    pairs: int
    consistent: float  # the share of pairs that may be equal
    moves: Floats  # |log| of the ratio of two runs' values
    half_widths: Floats  # of each interval, relative

    def move(self, percent: float) -> float:
        return float(np.percentile(self.moves, percent))


def agreement(results: Sequence[Result], counter: str) -> Agreement | None:
    """Compares a counter; None if no two results have it and its interval in a row."""
    ends = ends_of(counter)
    common = (
        (one.by_name[name], other.by_name[name])
        for one, other in itertools.combinations(results, 2)
        for name in one.by_name.keys() & other.by_name.keys()
    )
    pairs = [
        [[row[name] for name in (counter, *ends)] for row in rows]
        for rows in common
        if all(row.counters.keys() >= {*ends} for row in rows)
    ]
    if not pairs:
        return None
    values, lows, highs = np.moveaxis(np.array(pairs), -1, 0)  # [pair, run]
    moves = np.abs(np.diff(np.log(values), axis=1))
    # The errors of the two runs are independent. One faces up, the other down; two 95 %
    # intervals that only just meet differ significantly.
    up, down = np.log(highs / values), np.log(values / lows)
    is_up = values < values[:, ::-1]
    errors = np.where(is_up, up, down)
    may_be_one = moves[:, 0] <= np.hypot(*errors.T)
    half_widths = (highs - lows) / 2 / values
    return Agreement(len(pairs), float(may_be_one.mean()), moves, half_widths)


def markdown(results: Sequence[Result]) -> str:
    """Formats a table. Errors: ValueError, if no two results have a row in common."""
    times, ratios = agreement(results, TIME), agreement(results, RATIO)
    if times is None:
        raise ValueError("no two results have the time of one row, with its interval")
    lines = [
        ["times: pairs of two runs", str(times.pairs), ""],
        ["that may be equal", text.percent(times.consistent), "at least 90 %"],
        ["median row moves by", text.percent(times.move(50)), "at most 3 %"],
        ["90th percentile moves by", text.percent(times.move(90)), "at most 10 %"],
    ]
    if ratios is not None:
        half_width = float(np.median(ratios.half_widths))
        lines += [
            ["ratios of turns: pairs", str(ratios.pairs), ""],
            ["that may be equal", text.percent(ratios.consistent), "at least 95 %"],
            ["median half-width", text.percent(half_width), "at most 2 %"],
        ]
    return text.table([f"{len(results)} runs", "found", "goal"], lines)
