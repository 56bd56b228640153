# SPDX-License-Identifier: MIT
"""What share of the slowed rows is found, and after how many pairs."""

import math
from dataclasses import dataclass

import numpy as np

from reports.calibration.noise import Noise, log_medians
from reports.calibration.rates import share
from reports.calibration.rule import in_sequence, ratios
from reports.calibration.samples import Floats
from reports.calibration.simulated import PAIRS, SEED, THRESHOLD, Progress
from reports.compare.sequential import Plan
from reports.results.text import table

SLOWDOWNS = (0.03, 0.05, 0.10)
SPREADS = (0.01, 0.02, 0.04)  # of the log ratio of a pair
TABLE_ROWS = (1, 10, 50)
SLOWED = 5  # rows of a table, or all of a smaller one
TABLES = 400
OUTLIERS = 0.05  # of the processes, 1.3 to 3 times slower, each row by itself


@dataclass(frozen=True)
class Power:
    found: int
    of: int
    pairs: float  # the median of those found, nan if none is

    @property
    def rate(self) -> float:
        return self.found / self.of

    def __str__(self) -> str:
        pairs = f" in {self.pairs:.0f}" if self.found else ""
        return share(self.found, self.of) + pairs


def pairs_of(spread: float, outliers: float, tables: int, seed: int) -> Floats:
    """[table, pair, slowed row]: log ratios before the slowdown.

    The spread is that of pairs without outliers: of two processes, each of them
    the median of five repetitions that themselves differ (ICC 0.8).
    """
    rng = np.random.default_rng([SEED, 400, seed])
    # The median of five normal values has 0.2868 of the variance of one.
    process = spread / math.sqrt(2 * (1 + 0.25 * 0.2868))
    noise = Noise("", process=process, outliers=outliers)
    times = log_medians(noise, rng, tables=tables, processes=2 * PAIRS, rows=SLOWED)
    return ratios(times, rng.random((tables, PAIRS)) < 0.5)


def power(log_ratios: Floats, slowdown: float, rows: int) -> Power:
    """Of a table of `rows`; the others matter only by sharing the error."""
    slowed = log_ratios[:, :, : min(rows, SLOWED)] + math.log1p(slowdown)
    found = in_sequence(slowed, Plan(rows=rows, max_pairs=PAIRS), THRESHOLD)
    counted = found.pairs[found.regressed]
    median = float(np.median(counted)) if counted.size else math.nan
    return Power(int(counted.size), found.regressed.size, median)


def cells(
    spread: float, outliers: float, tables: int = TABLES, seed: int = 0
) -> dict[tuple[float, int], Power]:
    """By slowdown and rows of the table."""
    log_ratios = pairs_of(spread, outliers, tables, seed)
    return {
        (slowdown, rows): power(log_ratios, slowdown, rows)
        for slowdown in SLOWDOWNS
        for rows in TABLE_ROWS
    }


def power_table(tell: Progress, outliers: float) -> str:
    headings = ["spread of a pair", "rows"]
    headings += [f"+{100 * slowdown:.0f} %" for slowdown in SLOWDOWNS]
    lines = []
    for spread in SPREADS:
        tell(f"power: spread {spread}, outliers {outliers}")
        by = cells(spread, outliers)
        for rows in TABLE_ROWS:
            shares = [str(by[slowdown, rows]) for slowdown in SLOWDOWNS]
            lines.append([f"{100 * spread:.0f} %", str(rows), *shares])
    return table(headings, lines)
