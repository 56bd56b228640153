# SPDX-License-Identifier: MIT
"""The times of one process in a run of tools/ab, and the log ratio of a pair."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
from msgspec import Meta
from numpy.typing import ArrayLike
from scipy.special import ndtri

from reports.compare.ab_record import samples_file_of
from reports.compare.intervals import Floats, Pair
from reports.results import records
from reports.results.records import NotAResult, record
from reports.results.result_file import load as load_result
from reports.results.rows import Result

Several = Annotated[list[float], Meta(min_length=1)]
T = TypeVar("T")
Turns = dict[int, list[float]]  # by repetition, the median time of each turn in us

# Standard error of a middle-half mean over a full mean's, for normal values.
_OF_MEAN = 1.1


@dataclass(frozen=True)
class Times:
    """The times that one process measured for a row."""

    time_us: float
    turns_us: Turns = field(default_factory=dict)  # empty without turns


def middle_mean(rounds: ArrayLike) -> Floats:
    """Returns the mean of the middle half along the last axis."""
    values = np.sort(rounds, axis=-1)
    quarter = values.shape[-1] // 4
    return np.asarray(values[..., quarter : values.shape[-1] - quarter].mean(axis=-1))


def error_of(rounds: ArrayLike) -> Floats:
    """Returns the approximate standard error of `middle_mean` along the last axis,
    robust against a few outliers."""
    values = np.asarray(rounds, float)
    distances = np.abs(values - np.median(values, axis=-1, keepdims=True))
    spread = np.median(distances, axis=-1) / ndtri(0.75)  # a normal sample's deviation
    return np.asarray(_OF_MEAN * spread / math.sqrt(values.shape[-1]))


def pair_of(base: Times, new: Times) -> Pair:
    """Returns a pair's log ratio: the mean of the middle half of its rounds.

    In a round each side has one turn, a few hundredths of a second apart. A longer
    slowdown of the machine affects both sides, a shorter one only a few rounds.
    """
    rounds = [
        math.log(after / before)
        for repetition in base.turns_us.keys() & new.turns_us.keys()
        # One side may have taken several more turns.
        for before, after in zip(
            base.turns_us[repetition], new.turns_us[repetition], strict=False
        )
        if before > 0 and after > 0
    ]
    if len(rounds) < 2:  # a side may have taken all samples in a single turn
        return Pair(math.log(new.time_us / base.time_us))
    return Pair(float(middle_mean(rounds)), float(error_of(rounds)))


def _read_once(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """Wraps `read` to read an unchanged file only once."""

    @functools.cache
    def at(path: Path, _changed_ns: int) -> T:
        return read(path)

    return lambda path: at(path, path.stat().st_mtime_ns if path.exists() else 0)


@dataclass(frozen=True)
class _Samples:
    """A line of a process's file of samples."""

    name: str  # of the row
    repetition: Annotated[int, Meta(ge=0)]
    samples_us: Several  # in order; only every n-th of a long list
    # The row's median time in each turn; empty without turns.
    turn_us: Several = field(default_factory=list)


def _turns_of(path: Path) -> dict[str, Turns]:
    where = str(path)
    found: dict[str, Turns] = {}
    try:
        for number, line in enumerate(records.read(path).splitlines(), 1):
            where = f"{path}, line {number}"
            read = record(records.parse(line), _Samples)
            turns = found.setdefault(read.name, {})
            if read.turn_us:
                turns[read.repetition] = read.turn_us
    except NotAResult as error:
        raise NotAResult(f"{where}: {error}") from error
    return found


result_of: Callable[[Path], Result] = _read_once(load_result)
# Returns the turns of each row that has samples. Errors: NotAResult, which names the
# file of samples.
turns_of: Callable[[Path], dict[str, Turns]] = _read_once(_turns_of)


def times_of(path: Path) -> dict[str, Times]:
    """Returns by row the times of the process with this result.

    Errors: NotAResult, for a file that was damaged after the run wrote it.
    """
    turns = turns_of(samples_file_of(path))
    return {
        row.name: Times(row.time_us, turns.get(row.name, {}))
        for row in result_of(path).rows
    }
