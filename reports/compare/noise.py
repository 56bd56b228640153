# SPDX-License-Identifier: MIT
"""The noise of each row on one machine, as tools/ab --same measures it."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from reports.compare.decision import RowNoise
from reports.compare.intervals import Pair, max_spread, pair_interval
from reports.results.records import NotAResult, record, save, saved

KIND = "trainbench noise floor"
VERSION = 1


@dataclass(frozen=True)
class NoiseFile:
    """The noise of one machine, measured by comparing a program with itself."""

    context: dict[str, str]  # of the A/A run; identifies the machine
    rows: dict[str, RowNoise]
    revision: str  # of the program


def threshold_of(row: str, least: float, noise: NoiseFile | None) -> float:
    """Returns a row's threshold: `least`, or its noise floor if that is larger."""
    known = noise.rows.get(row) if noise else None
    return max(least, known.floor) if known else least


def noise_of_rows(
    pairs: Mapping[str, Sequence[Pair]],
    times_us: Mapping[str, Sequence[float]],
    alpha: float,
) -> dict[str, RowNoise]:
    """Returns the noise of each row with enough pairs for an interval at error `alpha`,
    from the pairs of an A/A run and the times of all its processes.

    With its floor as the threshold, a row of this run would be EQUIVALENT. The spread
    is the standard deviation of the log ratio of two random processes: sqrt(2) times
    the standard deviation of one process.
    """
    known = {
        name: [math.log(time) for time in times]
        for name, times in times_us.items()
        if len(times) > 1
    }
    reach = dict(zip(known, max_spread([*known.values()]), strict=True))
    found: dict[str, RowNoise] = {}
    for name, times in known.items():
        interval = pair_interval(pairs[name], alpha)
        if interval is not None:
            found[name] = RowNoise(
                floor=math.expm1(max(abs(interval.low), abs(interval.high))),
                spread=math.sqrt(2) * statistics.stdev(times),
                pairs=len(pairs[name]),
                reach=float(reach[name]),
            )
    return found


def save_noise(noise: NoiseFile, path: Path) -> None:
    save(path, KIND, VERSION, asdict(noise))


def load_noise(path: Path) -> NoiseFile:
    """Loads a noise floor. Errors: NotAResult."""
    try:
        return record(saved(path, KIND, VERSION), NoiseFile)
    except NotAResult as error:
        raise NotAResult(f"{path} is not a noise floor: {error}") from error
