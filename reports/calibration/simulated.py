# SPDX-License-Identifier: MIT
"""False alarms under simulated noise, in tables of 50 rows without any change: with
pairs, and with one process per side and a known A/A spread."""

import math

import numpy as np

from reports.calibration.noise import SCENARIOS, Noise, log_medians
from reports.calibration.rule import (
    Flags,
    Lines,
    abba,
    bounded,
    in_sequence,
    ratios,
    share_of,
)
from reports.calibration.samples import Floats
from reports.compare.intervals import max_spread, prediction_interval
from reports.compare.sequential import Plan

ROWS = 50
PAIRS = 40
TABLES = 1000
PLAN = Plan(rows=ROWS, max_pairs=PAIRS)
THRESHOLD = 0.02
SEED = 1
# Only on a quiet machine is an interval narrow enough for EQUIVALENT.
QUIET = (
    Noise("each process and row differs by 0.5 %", process=0.005),
    Noise("0.5 %, in all rows alike", process=0.005, common=True),
)


def run_of(noise: Noise, seed: int) -> tuple[Floats, Flags]:
    """Draws the times of A/A runs, [table, process, row], and a coin per pair."""
    rng = np.random.default_rng([SEED, seed])
    shape = (100, 2 * PAIRS, ROWS, 3)
    chunks = [log_medians(noise, rng, shape) for _ in range(TABLES // 100)]
    return np.concatenate(chunks), rng.random((TABLES, PAIRS)) < 0.5


def sequential_line(seed: int, noise: Noise) -> list[str]:
    times, coins = run_of(noise, seed)
    by_coin = ratios(times, coins)
    coin = in_sequence(by_coin, PLAN, 0.0)
    other_orders = (
        ratios(times, abba(PAIRS)),
        ratios(times, np.zeros(PAIRS, bool)),  # A B A B
        times[:, PAIRS:] - times[:, :PAIRS],  # all A, then all B
    )
    in_abba, in_abab, in_halves = (
        in_sequence(order, PLAN, 0.0).regressed.any(axis=1) for order in other_orders
    )
    return [
        noise.words,
        bounded(coin.regressed.any(axis=1)),
        bounded(coin.improved.any(axis=1)),
        bounded(in_sequence(by_coin, PLAN, THRESHOLD).regressed.any(axis=1)),
        bounded(in_abba),
        share_of(in_abab),
        share_of(in_halves),
    ]


def sequential() -> Lines:
    headings = ["noise", "REGRESSED", "IMPROVED", "REGRESSED by 2 %"]
    yield [*headings, "in A B B A", "in A B A B", "all A, then all B"]
    for seed, noise in enumerate(SCENARIOS):
        yield sequential_line(seed, noise)


def equivalent() -> Lines:
    """Counts false EQUIVALENT verdicts if all rows are slower by exactly the
    threshold."""
    yield ["noise", "EQUIVALENT", "REGRESSED", "IMPROVED"]
    for seed, noise in enumerate(QUIET):
        times, coins = run_of(noise, 100 + seed)
        slowed = ratios(times, coins) + math.log1p(THRESHOLD)
        found = in_sequence(slowed, PLAN, THRESHOLD)
        kinds = (found.equivalent, found.regressed, found.improved)
        yield [noise.words, *(bounded(kind.any(axis=1)) for kind in kinds)]


KNOWN_PAIRS = 20  # of the preceding A/A run
ALPHA = 0.05 / ROWS / 2  # the other half is for later pairs


def margins_of(known: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Returns half the interval of one process per side, [table, row]: by the spread
    alone, and by the rule, as in `decide_once`."""
    pairs = known.shape[1] // 2
    spread = np.std(known, axis=1, ddof=1) * math.sqrt(2)
    reach = np.stack(max_spread([*known.transpose(2, 0, 1)]), axis=1)
    alone = prediction_interval(0.0, 1.0, pairs, alpha).high * spread
    return alone, np.maximum(alone, reach)


def regressed(times: Floats, margin: Floats, slowdown: float) -> Flags:
    """Returns which verdicts on the last two processes are REGRESSED, [table, row]."""
    ratio = times[:, -1] - times[:, -2] + math.log1p(slowdown)
    return np.asarray(ratio - margin > math.log1p(THRESHOLD if slowdown else 0.0))


def once_line(seed: int, noise: Noise) -> list[str]:
    rng = np.random.default_rng([SEED, 300, seed])
    # An A/A run and two more processes, [table, process, row].
    times = log_medians(noise, rng, (TABLES, 2 * KNOWN_PAIRS + 2, ROWS, 3))
    alone, both = margins_of(times[:, : 2 * KNOWN_PAIRS], ALPHA)
    found = regressed(times, both, 0.30)
    return [
        noise.words,
        bounded(regressed(times, alone, 0.0).any(axis=1)),
        bounded(regressed(times, both, 0.0).any(axis=1)),
        f"{100 * math.expm1(float(np.median(both))):.0f} %",
        share_of(found),
    ]


def once() -> Lines:
    yield ["noise", "by the spread alone", "by the rule", "margin", "finds +30 %"]
    for seed, noise in enumerate(SCENARIOS):
        yield once_line(seed, noise)
