# SPDX-License-Identifier: MIT
"""Calibrates tools/history: false suspicions and reports, its power, and how often a
search finds the right commit."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from scipy.special import gammaincinv

from reports.calibration.noise import SCENARIOS, Noise, log_medians
from reports.calibration.rule import Flags, Lines, bounded, in_sequence, share
from reports.calibration.samples import Floats, Samples
from reports.calibration.simulated import SEED
from reports.calibration.weather import WEATHERS, turns_of
from reports.compare.ab_times import error_of, middle_mean
from reports.compare.sequential import Plan
from reports.history.bisect import error_of_step, search
from reports.history.divisive import (
    LEAST,
    WINDOW,
    ChangePoint,
    change_points,
    correlation_of,
    likeliest,
    p_of,
)
from reports.history.findings import ALPHA, GUARD, threshold_for
from reports.history.oracle import MAX_PAIRS
from reports.history.series import FEWEST
from reports.results.levels import levels_of
from reports.results.text import significant

ROWS, DAYS, RUNS = 300, 100, 4  # a point of each row on each day
PROCESSES = 6  # for each point
CHECKS, CHECKED_ROWS = 200, 100
SLOWDOWN, AFTER = 0.03, 5  # a fraction; commits after it
COMMITS, SEARCHES = 64, 100
SPREADS = [
    *(Noise(f"{100 * spread:g} %", spread) for spread in (0.005, 0.01, 0.02, 0.04)),
    replace(SCENARIOS[3], words=f"2 %, and {SCENARIOS[3].words}"),
]
NOISES = [SCENARIOS[number] for number in (0, 1, 3, 4, 5)]
CHECKED = [SCENARIOS[number] for number in (0, 5, 7)]
BLOCK = 8  # successive processes of the stored times
ROUGH = WEATHERS[5]  # drift and bursts
SCREEN = 0.01  # p value; a temporary step is less significant over all points
# A single t test's p value of 0.001 times the number of splits of a window.
OTAVA_LEVEL = 0.001 * (WINDOW - 2 * LEAST + 1)

Draw = Callable[[np.random.Generator, int, int], Floats]  # log times [process, row]


def _points(
    draw: Draw, rng: np.random.Generator, days: int, rows: int, processes: int
) -> tuple[Floats, Floats]:
    """Returns log times for each day from its processes, [which, row, day], and their
    noise, [which, day]."""
    logs = draw(rng, days * processes, rows).reshape(days, processes, rows)
    return levels_of(logs.transpose(2, 0, 1))


def _stored(samples: Samples) -> Draw:
    """Draws blocks of successive processes from the stored times, the same blocks for
    rows that were measured together."""
    known = np.log(samples.medians)

    def draw(rng: np.random.Generator, processes: int, rows: int) -> Floats:
        groups = math.ceil(rows / known.shape[1])
        starts = rng.integers(len(known), size=(groups, math.ceil(processes / BLOCK)))
        at = (starts[..., None] + np.arange(BLOCK)).reshape(groups, -1) % len(known)
        return np.concatenate(list(known[at[:, :processes]]), axis=1)[:, :rows]

    return draw


def simulated(noise: Noise) -> Draw:
    def draw(rng: np.random.Generator, processes: int, rows: int) -> Floats:
        return np.asarray(log_medians(noise, rng, (1, processes, rows, 3))[0])

    return draw


def _noisier(rng: np.random.Generator, processes: int, rows: int) -> Floats:
    """Draws processes that differ twice as much in the last eighth of the days."""
    is_late = np.arange(processes) >= processes * 7 / 8
    return simulated(SCENARIOS[0])(rng, processes, rows) * (1 + is_late)[:, None]


def _changed(
    window: Floats, noise: Floats, level: float, is_independent: bool
) -> Iterator[tuple[int, ChangePoint]]:
    """Yields the changes of the rows of a window, [row, day]."""
    correlation = 0.0 if is_independent else correlation_of([window])
    p = p_of(likeliest(window)[0], window.shape[1], correlation)
    # The full test, only for the few rows that may pass it.
    for row in np.flatnonzero(p < max(SCREEN, level)).tolist():
        for change in change_points(window[row], level, correlation, noise):
            yield row, change


def suspected(
    points: Floats, noise: Floats, level: float, is_independent: bool
) -> list[float]:
    """Returns the least log ratio of each change that checks on the last DAYS days
    suspect, from levels [which, row, day] and their noise [which, day]."""
    found: dict[int, list[int]] = {}
    ratios = []
    days = points.shape[-1]
    for end in range(days - DAYS + 1, days + 1):
        start = max(0, end - WINDOW)
        for levels, noises in zip(points, noise, strict=True):
            window = levels[:, start:end], noises[start:end]
            for row, change in _changed(*window, level, is_independent):
                known = found.setdefault(row, [])
                at = start + change.index
                if all(abs(at - other) > GUARD for other in known):
                    known.append(at)
                    ratios.append(change.least)
    return ratios


@cache
def _rough(tables: int) -> tuple[Floats, Floats]:
    """Draws log ratios of pairs in turns, without a change, and their errors."""
    rng = np.random.default_rng([SEED, 800, tables, MAX_PAIRS])
    rounds = turns_of(ROUGH, rng, (tables, MAX_PAIRS, 1, 20)).log_ratios
    return middle_mean(rounds), error_of(rounds)


def paired(slowdown: float, thresholds: Floats, alpha: float) -> tuple[Flags, Flags]:
    """Simulates runs of tools/ab on a rough machine, one row and one threshold each;
    returns which rows are REGRESSED, and which EQUIVALENT."""
    plan, limits = Plan(1, MAX_PAIRS, alpha), np.log1p(thresholds)[:, None, None]
    middle, error = _rough(len(thresholds))
    ratios = middle + math.log1p(slowdown)
    above = in_sequence(ratios - limits, plan, 0.0, error)
    below = in_sequence(ratios + limits, plan, 0.0, error)
    return above.regressed[:, 0], (above.improved & below.regressed)[:, 0]


def reported(ratios: Sequence[float], slowdown: float) -> int:
    """Counts the suspicions that are confirmed if all rows have this slowdown."""
    if not ratios:
        return 0
    thresholds = np.array([threshold_for(ratio) for ratio in ratios])
    return int(paired(slowdown, thresholds, 0.05)[0].sum())


def false_line(words: str, draw: Draw, seed: int) -> list[str]:
    rng = np.random.default_rng([SEED, 700, seed])
    ours: list[float] = []
    theirs = 0
    for _ in range(RUNS):
        points, noise = _points(draw, rng, DAYS + WINDOW, ROWS, PROCESSES)
        level = ALPHA / ROWS / len(points)
        ours += suspected(points, noise, level, is_independent=False)
        alike = np.ones_like(noise[:1])
        theirs += len(suspected(points[:1], alike, OTAVA_LEVEL, is_independent=True))
    false = reported(ours, 0.0)
    counts = (theirs, len(ours), false)
    *others, mean = (significant(count / RUNS) for count in counts)
    # The upper end of the 95 % interval (Poisson).
    most = significant(float(gammaincinv(false + 1, 0.975)) / RUNS, 2)
    return [words, *others, f"{mean} (≤ {most})"]


def false_reports(samples: Samples) -> Lines:
    yield ["noise", "Otava's p < 0.001", "suspected", "reported"]
    kinds = {"stored times of one binary": _stored(samples)}
    kinds |= {f"simulated: {noise.words}": simulated(noise) for noise in NOISES}
    kinds[f"simulated: {SCENARIOS[0].words}, 4 % in the last eighth"] = _noisier
    for seed, kind in enumerate(kinds.items()):
        yield false_line(*kind, seed)


def _is_suspected(draw: Draw, rng: np.random.Generator, processes: int) -> bool:
    """Checks a window of rows without a change."""
    drawn = _points(draw, rng, WINDOW, CHECKED_ROWS, processes)
    level = ALPHA / CHECKED_ROWS / len(drawn[0])
    windows = zip(*drawn, strict=True)
    return any(any(_changed(*window, level, False)) for window in windows)


def check_line(processes: int) -> list[str]:
    rng = np.random.default_rng([SEED, 1100, processes])
    draws = (simulated(noise) for noise in CHECKED)
    found = (
        [_is_suspected(draw, rng, processes) for _ in range(CHECKS)] for draw in draws
    )
    return [str(processes), *map(bounded, found)]


def checks() -> Lines:
    yield ["processes", *(noise.words for noise in CHECKED)]
    for processes in (1, 3, FEWEST, PROCESSES, 12):
        yield check_line(processes)


def power_line(noise: Noise, processes: int) -> list[str]:
    """Measures the power for each row as if it alone of ROWS were slower."""
    rng = np.random.default_rng([SEED, 900, processes])
    points, noises = _points(simulated(noise), rng, WINDOW, ROWS, processes)
    alpha = ALPHA / ROWS / len(points)
    found: dict[int, float] = {}
    for levels, each in zip(points, noises, strict=True):
        correlation = correlation_of([levels])
        levels[:, -AFTER:] += math.log1p(SLOWDOWN)
        for row, level in enumerate(levels):
            if changes := change_points(level, alpha, correlation, each):
                found.setdefault(row, changes[-1].least)
    ratios = list(found.values())
    counts = (len(ratios), reported(ratios, SLOWDOWN))
    shares = (share(count, ROWS) for count in counts)
    return [noise.words, str(processes), *shares]


def power() -> Lines:
    yield ["spread of processes", "processes", "suspected", "reported"]
    for noise in SPREADS:
        for processes in (FEWEST, PROCESSES, 12):
            yield power_line(noise, processes)


def _answers(slowdown: float, there: float) -> list[bool | None]:
    """Simulates 200 steps of searches: whether a commit is bad; None if undecided."""
    threshold = np.full(200, math.sqrt(1 + slowdown) - 1)
    bad, good = paired(there, threshold, error_of_step(COMMITS, 0))
    both = zip(bad.tolist(), good.tolist(), strict=True)
    return [is_bad if is_bad or is_good else None for is_bad, is_good in both]


def bisect_line(slowdown: float, broken: float) -> list[str]:
    rng = np.random.default_rng([SEED, 1000, round(1000 * slowdown)])
    good, bad = (_answers(slowdown, there) for there in (0.0, slowdown))
    commits = [str(number) for number in range(COMMITS)]
    right = wrong = 0
    for _ in range(SEARCHES):
        first = int(rng.integers(COMMITS))

        def is_bad(commit: str, first: int = first) -> bool | None:
            if rng.random() < broken:
                return None
            return (bad if int(commit) >= first else good)[rng.integers(200)]

        found = search(commits, is_bad)
        right += found == [str(first)]
        wrong += str(first) not in found
    several = SEARCHES - right - wrong
    kind = [f"+{100 * slowdown:g} %", f"{100 * broken:g} %"]
    return [*kind, *map(str, (right, several, wrong))]


def bisections() -> Lines:
    yield ["slowdown", "cannot be built", "right", "one of several", "wrong"]
    for broken in (0.0, 0.1):
        for slowdown in (0.03, 0.1):
            yield bisect_line(slowdown, broken)
