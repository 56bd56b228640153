# SPDX-License-Identifier: MIT
"""False alarms under simulated noise, in tables of 50 rows without any change."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from reports.calibration.noise import Noise, log_medians
from reports.calibration.rates import bounded, share
from reports.calibration.rule import Flags, Verdicts, abba, in_sequence, ratios
from reports.calibration.samples import Floats
from reports.calibration.scenarios import SCENARIOS
from reports.compare.sequential import Plan
from reports.results.text import table

ROWS = 50
PAIRS = 40
TABLES = 1000
PLAN = Plan(rows=ROWS, max_pairs=PAIRS)
THRESHOLD = 0.02
SEED = 1

Progress = Callable[[str], None]


def run_of(noise: Noise, seed: int, tables: int) -> tuple[Floats, Flags]:
    """The times of A/A runs, [table, process, row], and a coin per pair."""
    rng = np.random.default_rng([SEED, seed])
    chunks = [
        log_medians(
            noise, rng, tables=100, processes=2 * PAIRS, rows=ROWS, repetitions=3
        )
        for _ in range(tables // 100)
    ]
    return np.concatenate(chunks), rng.random((tables, PAIRS)) < 0.5


def orders(times: Floats, coins: Flags) -> dict[str, Floats]:
    """By order of the processes, the log ratios [table, pair, row]."""
    return {
        "coin": ratios(times, coins),
        "A B B A": ratios(times, abba(PAIRS)),
        "A B A B": ratios(times, np.zeros(PAIRS, bool)),
        "all A, all B": times[:, PAIRS:] - times[:, :PAIRS],
    }


def sequential_line(seed: int, noise: Noise) -> list[str]:
    found = orders(*run_of(noise, seed, TABLES))

    def verdicts(order: str, threshold: float = 0.0) -> Verdicts:
        return in_sequence(found[order], PLAN, threshold)

    coin = verdicts("coin")
    return [
        noise.words,
        bounded(coin.any_regressed(), TABLES),
        bounded(coin.any_improved(), TABLES),
        bounded(verdicts("coin", THRESHOLD).any_regressed(), TABLES),
        bounded(verdicts("A B B A").any_regressed(), TABLES),
        share(verdicts("A B A B").any_regressed(), TABLES),
        share(verdicts("all A, all B").any_regressed(), TABLES),
    ]


def sequential(progress: Progress) -> str:
    lines = []
    for seed, noise in enumerate(SCENARIOS):
        progress(f"false alarms: {noise.words}")
        lines.append(sequential_line(seed, noise))
    headings = ["noise", "REGRESSED", "IMPROVED", "REGRESSED by 2 %"]
    others = ["in A B B A", "in A B A B", "all A, then all B"]
    return table([*headings, *others], lines)


def equivalent(progress: Progress) -> str:
    """False EQUIVALENT verdicts if all rows are slower by exactly the threshold.

    The machine is quiet: only then is an interval narrow enough for EQUIVALENT.
    """
    lines = []
    words = ("each process and row differs by 0.5 %", "0.5 %, in all rows alike")
    quiet = [replace(noise, process=0.005) for noise in SCENARIOS[:2]]
    for seed, noise in enumerate(quiet):
        progress(f"false EQUIVALENT: {words[seed]}")
        times, coins = run_of(noise, 100 + seed, TABLES)
        slowed = ratios(times, coins) + math.log1p(THRESHOLD)
        found = in_sequence(slowed, PLAN, THRESHOLD)
        counts = (found.any_equivalent(), found.any_regressed(), found.any_improved())
        lines.append([words[seed], *(bounded(count, TABLES) for count in counts)])
    return table(["noise", "EQUIVALENT", "REGRESSED", "IMPROVED"], lines)
