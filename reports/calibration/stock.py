# SPDX-License-Identifier: MIT
"""The statistical test of Google Benchmark's compare.py, and its false alarms.

Mann-Whitney's U, two-sided, over the repetitions of one process per side; a row is
called different if p < 0.05, for any number of rows (tools/gbench/report.py,
calc_utest).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from reports.calibration.noise import Noise, log_times
from reports.calibration.rule import Lines, share_of
from reports.calibration.samples import Floats
from reports.calibration.simulated import ROWS, SEED

ALPHA = 0.05


def p_values(base: Floats, new: Floats) -> Floats:
    """Returns the p values [...] of two arrays [..., repetition].

    scipy computes exact p values for up to 8 repetitions without ties, and otherwise
    approximate ones. It chooses once for all rows of a call, so rows with ties and
    rows without are separate calls.
    """
    ordered = np.sort(np.concatenate([base, new], axis=-1), axis=-1)
    ties = (np.diff(ordered, axis=-1) == 0).any(axis=-1)
    found = np.empty(ties.shape)
    for chosen in (ties, ~ties):
        if chosen.any():
            found[chosen] = mannwhitneyu(base[chosen], new[chosen], axis=-1).pvalue
    return found


def alarms(base: Floats, new: Floats) -> NDArray[np.bool_]:
    return np.asarray(p_values(base, new) < ALPHA)


TABLES = 100
REPETITIONS = (3, 6, 9, 20)


def by_repetitions() -> Lines:
    """Tabulates compare.py's alarms by the share of the variance between processes."""
    heads = (f"{repetitions} repetitions" for repetitions in REPETITIONS)
    yield ["share between processes", *heads]
    for icc in (0.0, 0.5, 0.8):
        cells = [f"{icc:.1f}"]
        for repetitions in REPETITIONS:
            rng = np.random.default_rng([SEED, 200, round(10 * icc), repetitions])
            times = log_times(Noise("", icc=icc), rng, (TABLES, 2, ROWS, repetitions))
            base, new = times.astype(float).swapaxes(0, 1)
            found = alarms(base, new)
            cells.append(f"{share_of(found)}; {share_of(found.any(axis=1))}")
        yield cells
