# SPDX-License-Identifier: MIT
"""Pairs of programs that take turns, in simulated weather: spread, errors, power."""

import math

import numpy as np

from reports.calibration.rule import (
    Lines,
    Verdicts,
    bounded,
    in_sequence,
    share_in_pairs,
    share_of,
)
from reports.calibration.simulated import SEED, THRESHOLD
from reports.calibration.weather import WEATHERS, Turns, Weather, turns_of
from reports.compare.ab_times import error_of, middle_mean
from reports.compare.sequential import Plan
from reports.results import text

TABLES = 1000
PAIRS = 40
ROWS = 3  # as many as model_size/tiny has
ROUNDS = 20  # they give each side one second
SLOWDOWN = 0.05
PLAN = Plan(rows=ROWS, max_pairs=PAIRS)


def run_of(number: int, weather: Weather, tables: int = TABLES, **order: bool) -> Turns:
    """Simulates turns in this order, which is `fixed`, `whole` or neither."""
    rng = np.random.default_rng([SEED, 600, number])
    return turns_of(weather, rng, (tables, PAIRS, ROWS, ROUNDS), **order)


def spread_line(number: int, weather: Weather) -> list[str]:
    processes = run_of(number, weather, whole=True, tables=100)
    turns = run_of(number, weather, tables=100)
    found = (
        processes.log_ratio_of_medians,
        turns.log_ratio_of_medians,
        turns.log_ratios.mean(axis=-1),
        np.median(turns.log_ratios, axis=-1),
        middle_mean(turns.log_ratios),
    )
    return [weather.words, *(text.percent(float(np.std(each))) for each in found)]


def spreads() -> Lines:
    heads = ["one process after the other", "in turns: the ratio of medians"]
    heads += ["the mean of the rounds", "the median", "the mean of the middle half"]
    yield ["weather", *heads]
    for number, weather in enumerate(WEATHERS):
        yield spread_line(number, weather)


def judged(turns: Turns, threshold: float, slowdown: float = 0.0) -> Verdicts:
    slowed = middle_mean(turns.log_ratios) + math.log1p(slowdown)
    return in_sequence(slowed, PLAN, threshold, error_of(turns.log_ratios))


def verdict_line(number: int, weather: Weather) -> list[str]:
    same, fixed = run_of(number, weather), run_of(number, weather, fixed=True)
    any_size, within = judged(same, 0.0), judged(same, THRESHOLD)
    slower = judged(same, THRESHOLD, SLOWDOWN)
    equivalent = share_of(within.equivalent.all(axis=1))
    return [
        weather.words,
        bounded(any_size.regressed.any(axis=1)),
        bounded(any_size.improved.any(axis=1)),
        bounded(within.regressed.any(axis=1)),
        share_in_pairs(slower.regressed.all(axis=1), slower),
        f"{equivalent} in {np.median(within.pairs):.0f}",
        share_of(judged(fixed, 0.0).regressed.any(axis=1)),
    ]


def verdicts() -> Lines:
    heads = ["weather", "REGRESSED", "IMPROVED", "REGRESSED by 2 %"]
    heads += ["all found at +5 %", "all EQUIVALENT by 2 %"]
    yield [*heads, "REGRESSED if base begins each round"]
    for number, weather in enumerate(WEATHERS):
        yield verdict_line(number, weather)
