# SPDX-License-Identifier: MIT
"""Simulated times of a noisy machine, without any real difference."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reports.calibration.samples import Floats

Singles = NDArray[np.float32]  # half the memory, and accurate enough
Shape = tuple[int, int, int, int]  # tables, processes, rows, repetitions

DWELL = 8  # average number of processes until the other job starts or ends


@dataclass(frozen=True)
class Noise:
    """Noise of log time. A process shifts all its repetitions equally."""

    words: str  # for the tables
    process: float = 0.02  # standard deviation between processes
    icc: float = 0.8  # share of the variance that is between processes
    common: bool = False  # whether a process shifts all rows equally
    memory: float = 0.0  # correlation of a process with the previous one
    skewed: bool = False  # delays only, instead of the normal distribution
    outliers: float = 0.0  # share of processes that are 1.3 to 3 times slower
    drift: float = 0.0  # log slowdown of the last process
    neighbor: float = 0.0  # log slowdown while another job uses the machine
    rhythm: bool = False  # whether that job starts and ends in step with A B B A


def _unit(noise: Noise, rng: np.random.Generator, shape: tuple[int, ...]) -> Singles:
    """Draws random values of mean 0 and variance 1."""
    if noise.skewed:
        return rng.standard_exponential(shape, np.float32) - 1
    return rng.standard_normal(shape, np.float32)


def _neighbor(noise: Noise, rng: np.random.Generator, tables: int, n: int) -> Floats:
    """Returns 1 while the other job runs, otherwise 0: [table, process, 1]."""
    if noise.rhythm:
        there = np.isin(np.arange(n) % 4, (1, 2))
        return np.broadcast_to(there[None, :, None], (tables, n, 1)).astype(float)
    changes = rng.random((tables, n, 1)) < 1 / DWELL
    changes[:, 0] = rng.random((tables, 1)) < 0.5
    return np.asarray(np.cumsum(changes, axis=1) % 2, float)


def _processes(noise: Noise, rng: np.random.Generator, shape: Shape) -> Floats:
    """Draws the shift of each process's repetitions: [table, process, row]."""
    tables, processes, rows, _ = shape
    width = 1 if noise.common else rows
    shift = _unit(noise, rng, (tables, processes, width)).astype(float)
    for i in range(1, processes if noise.memory else 0):
        fresh = np.sqrt(1 - noise.memory**2) * shift[:, i]
        shift[:, i] = noise.memory * shift[:, i - 1] + fresh
    shift *= noise.process
    if noise.outliers:
        slow = np.log(rng.uniform(1.3, 3, shift.shape))
        shift += slow * (rng.random(shift.shape) < noise.outliers)
    if noise.neighbor:
        shift = shift + noise.neighbor * _neighbor(noise, rng, tables, processes)
    shift = shift + noise.drift * np.linspace(0, 1, processes)[None, :, None]
    return np.broadcast_to(shift, (tables, processes, rows))


def log_times(noise: Noise, rng: np.random.Generator, shape: Shape) -> Singles:
    """Draws log times [table, process, row, repetition], processes in time order."""
    each = _unit(noise, rng, shape)
    if noise.icc == 0:  # processes do not differ
        return each * np.float32(noise.process)
    each *= np.float32(noise.process * np.sqrt((1 - noise.icc) / noise.icc))
    each += _processes(noise, rng, shape).astype(np.float32)[..., None]
    return each


def log_medians(noise: Noise, rng: np.random.Generator, shape: Shape) -> Floats:
    """Draws the median of each process's repetitions: [table, process, row]."""
    each = log_times(noise, rng, shape)
    # The number of repetitions is odd: the median is the middle one.
    middle = shape[-1] // 2
    each.partition(middle, axis=-1)
    return each[..., middle].astype(float)


SCENARIOS = (
    Noise("each process and row differs by 2 %"),
    Noise("a process shifts all rows alike", common=True),
    Noise("steady drift, twice as slow in the end", drift=0.69),
    Noise("a neighbor that comes and goes, 50 %", neighbor=0.4),
    Noise("each process resembles the one before (0.5)", memory=0.5),
    Noise("5 % of the processes are 1.3 to 3 times slower", outliers=0.05),
    Noise("the same, in all rows alike", outliers=0.05, common=True),
    Noise("delays only", skewed=True),
    Noise(
        "all of that", drift=0.69, neighbor=0.4, memory=0.5, outliers=0.05, skewed=True
    ),
    Noise("a neighbor in step with A B B A, 5 %", neighbor=0.05, rhythm=True),
)
