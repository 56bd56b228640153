# SPDX-License-Identifier: MIT
"""The record of a run of tools/ab: its settings, and the processes so far.

The directory of a run holds the record in ab.json, and for each process its result in
NNN.json and its samples in NNN.samples.jsonl, and at last the comparison in
result.json.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from reports.compare.noise import NoiseFile
from reports.results import records
from reports.results.records import NotAResult, record, saved

KIND, RESULT_KIND = "trainbench ab run", "trainbench ab result"
VERSION = 1  # of both
FILE, RESULT = "ab.json", "result.json"

SideName = Literal["base", "new"]
MOST_PAIRS = 10**6  # of a run
Reason = Literal["decided", "max_pairs", "max_minutes"]
SIDES: tuple[SideName, SideName] = ("base", "new")


@dataclass(frozen=True)
class Side:
    label: str  # as the user named it
    revision: str | None  # the commit from which the program was built
    sha256: str | None  # for a given program, or one from another repository

    @property
    def identity(self) -> str:
        return f"sha256:{self.sha256}" if self.sha256 else self.revision or ""


@dataclass(frozen=True)
class Process:
    """A process of a run. Its result file is read on demand."""

    side: SideName
    position: Annotated[int, Meta(ge=0)]  # among all processes
    seconds: Annotated[float, Meta(ge=0)] = 0.0  # from start to end

    @property
    def pair(self) -> int:
        return self.position // len(SIDES)

    @property
    def file(self) -> str:
        """The name of its result in the directory of the run."""
        return f"{self.position + 1:03}.json"


@dataclass(frozen=True)
class AbRun:
    base: Side
    new: Side
    flags: list[str]  # for the program, as the user gave them
    threshold: Annotated[float, Meta(gt=0, lt=1)]  # the smallest ratio - 1 that matters
    # The probability that every interval of the table is right.
    confidence: Annotated[float, Meta(gt=0.5, lt=1)]
    max_pairs: Annotated[int, Meta(ge=1, le=MOST_PAIRS)]
    stops_early: bool  # as soon as planned looks have decided every row
    noise: NoiseFile | None = None  # the noise floor behind the thresholds
    rows: list[str] = field(default_factory=list)  # of both programs
    ended: Reason | None = None
    # Both processes of each pair, in order.
    processes: list[Process] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        return len(self.processes) // len(SIDES)

    @property
    def seconds(self) -> float:
        return sum(process.seconds for process in self.processes)

    def of(self, processes: Sequence[Process]) -> "AbRun":
        """Returns the run with these processes, except those that lack the other half
        of their pair: it would run hours later."""
        counts = Counter(process.pair for process in processes)
        whole = [one for one in processes if counts[one.pair] == len(SIDES)]
        return replace(self, processes=sorted(whole, key=lambda one: one.position))


def samples_file_of(result: Path) -> Path:
    """Returns a process's file of samples, which is next to its result."""
    return result.with_suffix(".samples.jsonl")


def save(run: AbRun, directory: Path) -> None:
    records.save(directory / FILE, KIND, VERSION, asdict(run))


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check(run: AbRun) -> None:
    """Checks consistency. Errors: NotAResult."""
    for side in (run.base, run.new):
        if side.revision is None and side.sha256 is None:
            raise NotAResult(f"{side.label} has no revision; allowed: that or sha256")
    lists: dict[str, Sequence[object]] = {
        "rows": run.rows,
        "position": [process.position for process in run.processes],
        "side of a pair": [(process.pair, process.side) for process in run.processes],
    }
    for what, values in lists.items():
        for value, times in Counter(values).items():
            if times > 1:
                raise NotAResult(f"{what} has {value!r} twice; allowed: once")


def load(directory: Path) -> AbRun:
    """Loads the record of a run. Errors: NotAResult."""
    path = directory / FILE
    try:
        run = record(saved(path, KIND, VERSION), AbRun)
        _check(run)
    except NotAResult as error:
        raise NotAResult(f"{path} is not a run of tools/ab: {error}") from error
    return run.of(run.processes)
