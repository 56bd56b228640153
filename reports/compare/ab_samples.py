# SPDX-License-Identifier: MIT
"""Reads the samples of one process: a JSON line per row and repetition."""

import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from reports.results import records
from reports.results.records import NotAResult, record

Times = Annotated[list[float], Meta(min_length=1)]


@dataclass(frozen=True)
class _Line:
    name: str
    repetition: Annotated[int, Meta(ge=0)]
    samples_us: Times
    every: float = 1
    median_us: Annotated[float, Meta(ge=0)] | None = None
    turn_us: Times = field(default_factory=list)  # none: no turns


@dataclass(frozen=True)
class Samples:
    row: str
    repetition: int
    times_us: list[float]  # in order; of a long list every n-th
    median_us: float  # of all samples
    turns_us: list[float]  # of each turn the median of the row's time; none: no turns


def _parse(line: bytes) -> Samples:
    """Errors: NotAResult."""
    read = record(records.parse(line), _Line)
    median = statistics.median(read.samples_us)
    if read.every > 1:
        if read.median_us is None:
            raise NotAResult("it lacks median_us")
        median = read.median_us
    return Samples(read.name, read.repetition, read.samples_us, median, read.turn_us)


def load(path: Path) -> list[Samples]:
    """Errors: NotAResult, which names the file."""
    where, found = str(path), []
    try:
        for number, line in enumerate(records.read(path).splitlines(), 1):
            where = f"{path}, line {number}"
            found.append(_parse(line))
    except NotAResult as error:
        raise NotAResult(f"{where}: {error}") from error
    return found
