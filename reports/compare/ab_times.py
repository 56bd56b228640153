# SPDX-License-Identifier: MIT
"""The times of one process in a run of tools/ab, and the ratio that a pair gives."""

import functools
import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from reports.compare.ab_record import samples_file_of
from reports.compare.ab_samples import load as load_samples
from reports.results.rows import Result
from reports.results.rows import load as load_result

T = TypeVar("T")
Turns = Mapping[int, list[float]]  # by repetition, the median of each turn in us


@dataclass(frozen=True)
class Times:
    """What one process says about a row."""

    time_us: float
    turns_us: Turns = field(default_factory=dict)  # empty without turns


def log_ratio(base: Times, new: Times) -> float:
    """The log ratio of a pair: the median over its rounds, if it has any.

    In a round each side has one turn, a few hundredths of a second apart. What slows
    the machine down for longer hits both, and what is shorter hits a few rounds only.
    """
    rounds = [
        math.log(after / before)
        for repetition in base.turns_us.keys() & new.turns_us.keys()
        # One side may need a turn more.
        for before, after in zip(
            base.turns_us[repetition], new.turns_us[repetition], strict=False
        )
        if before > 0 and after > 0
    ]
    return statistics.median(rounds) if rounds else math.log(new.time_us / base.time_us)


def _read_once(read: Callable[[Path], T]) -> Callable[[Path], T]:
    """As `read`, but an unchanged file is read only once."""

    @functools.cache
    def at(path: Path, _changed_ns: int) -> T:
        return read(path)

    def latest(path: Path) -> T:
        try:
            return at(path, path.stat().st_mtime_ns)
        except FileNotFoundError:
            return read(path)  # which says so in its own words

    return latest


def _turns_of(path: Path) -> dict[str, Turns]:
    found: dict[str, dict[int, list[float]]] = {}
    for line in load_samples(path):
        if line.turns_us:
            found.setdefault(line.row, {})[line.repetition] = line.turns_us
    return dict(found)


result_of: Callable[[Path], Result] = _read_once(load_result)
_latest_turns_of = _read_once(_turns_of)


def times_of(path: Path, in_turns: bool) -> dict[str, Times]:
    """By row, the times of the process with this result.

    Errors: NotAResult, for a file that was damaged after the run wrote it.
    """
    turns = (
        _latest_turns_of(path.with_name(samples_file_of(path.name))) if in_turns else {}
    )
    return {
        row.name: Times(row.time_us, turns.get(row.name, {}))
        for row in result_of(path).rows
    }
