# SPDX-License-Identifier: MIT
"""A directory of tools/ab as typed data: what was asked, and what has been run.

It holds ab.json, the description that follows, and for each process NNN.json (its
result) and NNN.samples.jsonl (its samples); whose they are is said by ab.json.
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

KIND = "trainbench ab run"
VERSION = 1
FILE = "ab.json"
NOISE_FILE = "noise.json"  # the noise floor that the thresholds come from, if any

SideName = Literal["base", "new"]
Reason = Literal["decided", "max_pairs", "max_minutes"]
SIDES: tuple[SideName, SideName] = ("base", "new")


class NotAnAbRun(ValueError):
    """The directory holds none; the message says why, in one line."""


@dataclass(frozen=True)
class Side:
    label: str  # what the user called it
    revision: str | None  # the commit that it was built from, or
    sha256: str | None  # of the program that was given

    @property
    def identity(self) -> str:
        return self.revision or f"sha256:{self.sha256}"


@dataclass(frozen=True)
class Process:
    """One that came to its end. Its file is read again whenever it is needed."""

    file: str  # its result, in the directory
    side: SideName
    pair: int  # from 0
    position: int  # among all processes, from 0
    seed: int  # of the order of its cases
    seconds: float  # from start to end


@dataclass(frozen=True)
class AbRun:
    base: Side
    new: Side
    flags: list[str]  # of the program, as the user gave them
    threshold: float  # the ratio - 1 that matters
    confidence: float  # that no interval of the whole table is wrong
    max_pairs: int
    stops_early: bool  # as soon as every row is decided, at planned looks
    noise_sha256: str | None  # of NOISE_FILE
    rows: list[str] = field(default_factory=list)  # that both sides have
    ended: Reason | None = None
    processes: list[Process] = field(default_factory=list)

    @property
    def pairs(self) -> int:
        """That are whole."""
        return len(self.whole_pairs())

    @property
    def seconds(self) -> float:
        return sum(process.seconds for process in self.processes)

    def whole_pairs(self) -> list[int]:
        sides: dict[int, set[str]] = {}
        for process in self.processes:
            sides.setdefault(process.pair, set()).add(process.side)
        return sorted(pair for pair, found in sides.items() if len(found) == 2)

    def with_process(self, process: Process) -> "AbRun":
        others = [p for p in self.processes if p.position != process.position]
        ordered = sorted([*others, process], key=lambda one: one.position)
        return replace(self, processes=ordered)


def write_json(path: Path, document: dict[str, Any]) -> None:
    """At every moment there is the old file or the new one, whole."""
    beside = path.with_name(path.name + ".tmp")
    beside.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    os.replace(beside, path)


def save(run: AbRun, directory: Path) -> None:
    document = {"kind": KIND, "version": VERSION, **asdict(run)}
    write_json(directory / FILE, document)


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
