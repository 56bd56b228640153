# SPDX-License-Identifier: MIT
"""Statistical power: the share of slower rows that are found, and the pairs needed."""

import math

import numpy as np

from reports.calibration.noise import Noise, log_medians
from reports.calibration.rule import Lines, in_sequence, ratios, share_in_pairs
from reports.calibration.samples import Floats
from reports.calibration.simulated import PAIRS, SEED, THRESHOLD
from reports.compare.sequential import Plan

SLOWDOWNS = (0.03, 0.05, 0.10)
SPREADS = (0.01, 0.02, 0.04)  # of the log ratio of a pair
TABLE_ROWS = (1, 10, 50)
SLOWED = 5  # number of slower rows in a table; all rows of a smaller one
TABLES = 400
OUTLIERS = 0.05  # share of processes 1.3 to 3 times slower, drawn for each row


def pairs_of(spread: float, outliers: float) -> Floats:
    """Draws the log ratios before the slowdown, [table, pair, slower row].

    Without outliers a pair has this spread. The result of a process is the median of
    five repetitions, which vary too (ICC 0.8).
    """
    rng = np.random.default_rng([SEED, 400, 0])
    # The median of five normal values has 0.2868 times the variance of a value.
    process = spread / math.sqrt(2 * (1 + 0.25 * 0.2868))
    noise = Noise("", process=process, outliers=outliers)
    times = log_medians(noise, rng, (TABLES, 2 * PAIRS, SLOWED, 5))
    return ratios(times, rng.random((TABLES, PAIRS)) < 0.5)


def power_table(outliers: float) -> Lines:
    slowdowns = (f"+{100 * slowdown:.0f} %" for slowdown in SLOWDOWNS)
    yield ["spread of a pair", "rows", *slowdowns]
    for spread in SPREADS:
        log_ratios = pairs_of(spread, outliers)
        for rows in TABLE_ROWS:
            # Rows that are not slowed only share the error.
            plan = Plan(rows=rows, max_pairs=PAIRS)
            slowed = (log_ratios[:, :, :rows] + math.log1p(s) for s in SLOWDOWNS)
            found = [in_sequence(each, plan, THRESHOLD) for each in slowed]
            shares = [share_in_pairs(each.regressed, each) for each in found]
            yield [f"{100 * spread:.0f} %", str(rows), *shares]
