# SPDX-License-Identifier: MIT
"""False alarms of compare.py on simulated times."""

import numpy as np

from reports.calibration import stock
from reports.calibration.noise import Noise, log_times
from reports.calibration.rates import share
from reports.calibration.simulated import ROWS, SEED, Progress
from reports.results.text import table

REPETITIONS = (3, 6, 9, 20)


def by_repetitions(progress: Progress, tables: int = 100) -> str:
    """compare.py's alarms by the share of the variance that is between processes."""
    lines = []
    for icc in (0.0, 0.5, 0.8):
        cells = [f"{icc:.1f}"]
        for repetitions in REPETITIONS:
            progress(f"compare.py: ICC {icc}, {repetitions} repetitions")
            rng = np.random.default_rng([SEED, 200, round(10 * icc), repetitions])
            times = log_times(
                Noise("", icc=icc),
                rng,
                tables=tables,
                processes=2,
                rows=ROWS,
                repetitions=repetitions,
            ).astype(float)
            found = stock.alarms(times[:, 0], times[:, 1])
            any_ = share(int(found.any(axis=1).sum()), tables)
            cells.append(f"{share(int(found.sum()), found.size)}; {any_}")
        lines.append(cells)
    heads = [f"{repetitions} repetitions" for repetitions in REPETITIONS]
    return table(["share between processes", *heads], lines)
