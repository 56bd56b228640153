# SPDX-License-Identifier: MIT
"""Simulated turns of two equal programs on a machine with varying speed."""

from dataclasses import dataclass

import numpy as np

from reports.calibration.samples import Floats

TURN_S = 0.065  # including the time until the other program's threads sleep
START_TURNS = 30  # the time to start a process and to build a case
BURST_TURNS = 2.3  # mean length


@dataclass(frozen=True)
class Weather:
    """Influences on the log time of the program that runs."""

    words: str  # for the tables
    slow: float = 0.0  # standard deviation of the drift within 3 s
    quick: float = 0.0  # standard deviation of the drift within 0.2 s
    bursts: float = 0.0  # per second; 20 to 80 % slower for 0.15 s
    drift: float = 0.0  # log slowdown from the first pair to the last
    rhythm: float = 0.0  # log slowdown of every other turn
    turn: float = 0.03  # standard deviation of a turn's own noise
    process: float = 0.005  # standard deviation of a process's constant difference
    outliers: float = 0.0  # share of the processes that are 1.3 to 3 times slower
    rough: float = 0.0  # share of the pairs with five times the noise in their turns


WEATHERS = (
    Weather("calm"),
    Weather("drift within 3 s, 5 %", slow=0.05),
    Weather("and within 0.2 s, 3 %", slow=0.05, quick=0.03),
    Weather("a burst in three seconds, of 0.15 s, 20 to 80 %", bursts=0.3),
    Weather("a burst a second", bursts=1.0),
    Weather("drift within 3 s and a burst a second", slow=0.05, quick=0.03, bursts=1.0),
    Weather("drift within 3 s, and twice as slow in the end", slow=0.05, drift=0.69),
    Weather("one process in twenty is 1.3 to 3 times slower", outliers=0.05),
    Weather("in one pair in ten turns have five times the noise", rough=0.1),
    Weather("every other turn is slower by 5 %", rhythm=0.05),
)


@dataclass(frozen=True)
class Turns:
    """Log medians of turns, [table, pair, row, round]."""

    base: Floats
    new: Floats

    @property
    def log_ratios(self) -> Floats:
        """The logarithm of new / base in each round."""
        return self.new - self.base

    @property
    def log_ratio_of_medians(self) -> Floats:
        """The logarithm of the ratio of both medians, [table, pair, row]."""
        return np.asarray(np.median(self.new, axis=-1) - np.median(self.base, axis=-1))


def _changing(
    deviation: float, turns: float, rng: np.random.Generator, shape: tuple[int, int]
) -> Floats:
    """Draws normal values [step, series] with correlation 1/e at distance `turns`."""
    values = rng.standard_normal(shape)
    kept = np.exp(-1 / turns)
    for step in range(1, shape[0]):
        values[step] = kept * values[step - 1] + np.sqrt(1 - kept**2) * values[step]
    return deviation * values


def _bursts(
    per_second: float, rng: np.random.Generator, shape: tuple[int, int]
) -> Floats:
    begins = rng.random(shape) < per_second * TURN_S
    lengths = rng.geometric(1 / BURST_TURNS, shape)
    heights = rng.uniform(0.2, 0.8, shape)
    found = np.zeros(shape)
    left, height = np.zeros(shape[1]), np.zeros(shape[1])
    for step in range(shape[0]):
        left = np.where(begins[step], lengths[step], left - 1)
        height = np.where(begins[step], heights[step], height)
        found[step] = np.where(left > 0, height, 0)
    return found


def _course(weather: Weather, rng: np.random.Generator, steps: int, n: int) -> Floats:
    """Draws the machine's log slowdown, [step, series]."""
    shape = (steps, n)
    course = weather.drift * np.linspace(0, 1, steps)[:, None] * np.ones(n)
    if weather.slow:
        course += _changing(weather.slow, 3 / TURN_S, rng, shape)
    if weather.quick:
        course += _changing(weather.quick, 0.2 / TURN_S, rng, shape)
    if weather.bursts:
        course += np.log1p(_bursts(weather.bursts, rng, shape))
    course[1::2] += weather.rhythm
    return course


def _processes(
    weather: Weather, rng: np.random.Generator, shape: tuple[int, int, int]
) -> Floats:
    """Draws the constant differences of a side's processes, [table, pair, row, 1]."""
    kept = weather.process * rng.standard_normal(shape)
    slow = np.log(rng.uniform(1.3, 3, shape))
    kept += slow * (rng.random(shape) < weather.outliers)
    return kept[..., None]


def turns_of(
    weather: Weather,
    rng: np.random.Generator,
    shape: tuple[int, int, int, int],
    fixed: bool = False,
    whole: bool = False,
) -> Turns:
    """Simulates the turns of two equally fast programs, [table, pair, row, round].

    A coin decides which one begins each round; if `fixed`, the base always does. If
    `whole`, each program takes all its turns in a row, as a process that runs alone.
    """
    tables, pairs, rows, rounds = shape
    per_pair = (2 if whole else 1) * START_TURNS + 2 * rounds
    course = _course(weather, rng, pairs * per_pair, tables * rows)
    # [table, pair, row, step of the pair]
    at = course.reshape(pairs, per_pair, tables, rows).transpose(2, 0, 3, 1)
    if whole:
        first = at[..., START_TURNS : START_TURNS + rounds]
        second = at[..., per_pair - rounds :]
        coins = rng.random((tables, pairs, 1, 1)) < 0.5
    else:
        first = at[..., START_TURNS::2]
        second = at[..., START_TURNS + 1 :: 2]
        coins = rng.random(shape) < (0 if fixed else 0.5)
    each = shape[:3]
    turn = np.where(rng.random((*each, 1)) < weather.rough, 5, 1) * weather.turn
    noise = turn * rng.standard_normal((2, *shape))
    return Turns(
        np.where(coins, second, first) + noise[0] + _processes(weather, rng, each),
        np.where(coins, first, second) + noise[1] + _processes(weather, rng, each),
    )
