# SPDX-License-Identifier: MIT
"""One process a side against a known A/A spread: false alarms and power."""

import math

import numpy as np

from reports.calibration.noise import Noise, log_medians
from reports.calibration.rates import bounded, share
from reports.calibration.rule import Flags, margins, max_spread
from reports.calibration.samples import Floats
from reports.calibration.scenarios import SCENARIOS
from reports.calibration.simulated import ROWS, SEED, Progress
from reports.results.text import table

PAIRS = 20  # of the preceding A/A run
TABLES = 1000
ALPHA = 0.05 / ROWS


def run_of(noise: Noise, seed: int, tables: int) -> Floats:
    """The times of an A/A run and of two more processes, [table, process, row]."""
    rng = np.random.default_rng([SEED, 300, seed])
    return log_medians(
        noise,
        rng,
        tables=tables,
        processes=2 * PAIRS + 2,
        rows=ROWS,
        repetitions=3,
    )


def margins_of(known: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Margins [table, row] from [table, process, row]: by spread alone, by the rule."""
    pairs = known.shape[1] // 2
    spread = np.std(known, axis=1, ddof=1) * math.sqrt(2)
    reach = max_spread(known)
    alone = margins(spread, np.zeros_like(reach), pairs, alpha)
    return alone, margins(spread, reach, pairs, alpha)


def regressed(times: Floats, margin: Floats, slowdown: float) -> Flags:
    """REGRESSED verdicts on the last two processes, [table, row]."""
    ratio = times[:, -1] - times[:, -2] + math.log1p(slowdown)
    return np.asarray(ratio - margin > math.log1p(0.02 if slowdown else 0.0))


def _any(found: Flags) -> int:
    return int(found.any(axis=1).sum())


def line(seed: int, noise: Noise) -> list[str]:
    times = run_of(noise, seed, TABLES)
    alone, both = margins_of(times[:, : 2 * PAIRS], ALPHA)
    found = regressed(times, both, 0.30)
    return [
        noise.words,
        bounded(_any(regressed(times, alone, 0.0)), TABLES),
        bounded(_any(regressed(times, both, 0.0)), TABLES),
        f"{100 * math.expm1(float(np.median(both))):.0f} %",
        share(int(found.sum()), found.size),
    ]


def false_alarms(progress: Progress) -> str:
    lines = []
    for seed, noise in enumerate(SCENARIOS):
        progress(f"one process a side: {noise.words}")
        lines.append(line(seed, noise))
    headings = ["by the spread alone", "by the rule", "margin", "finds +30 %"]
    return table(["noise", *headings], lines)
