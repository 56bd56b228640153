# SPDX-License-Identifier: MIT
"""The measured repetitions of one binary in many processes, in a JSON file.

{"about": {...}, "started_s": [0.0, ...], "rows": {"name": [[us, ...], ...]}}: each row
has a list of repetitions per process, in the order of the processes.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reports.compare.fields import Fields
from reports.results import strict_json
from reports.results.checked_entry import LONGEST_US, SHORTEST_US, is_number
from reports.results.files import write_files

Floats = NDArray[np.float64]

STORED = Path(__file__).with_name("same_binary.json")


@dataclass(frozen=True)
class Samples:
    about: dict[str, str]  # machine, revision, flags
    started_s: list[float]  # start of each process, since the first start
    rows: dict[str, list[list[float]]]  # us, [process][repetition]

    @property
    def times(self) -> Floats:
        """[process, row, repetition], in us."""
        return np.array(list(self.rows.values()), float).transpose(1, 0, 2)

    @property
    def medians(self) -> Floats:
        """[process, row], in us: the result of a process."""
        return np.median(self.times, axis=2)


def share_between(log_times: Floats) -> float:
    """The share of the variance between processes, from [process, repetition].

    This is the intraclass correlation of a one-way ANOVA.
    """
    repetitions = log_times.shape[1]
    between = repetitions * float(np.var(log_times.mean(axis=1), ddof=1))
    within = float(np.mean(np.var(log_times, axis=1, ddof=1)))
    share = (between - within) / (between + (repetitions - 1) * within)
    return max(0.0, float(share))


def _times(row: str, processes: object) -> list[list[float]]:
    """Errors: ValueError."""
    if not (isinstance(processes, list) and processes):
        raise ValueError(f"{row} is no list of processes")
    for times in processes:
        if not (isinstance(times, list) and times and all(map(_is_time, times))):
            raise ValueError(
                f"a process of {row} is no list of times from {SHORTEST_US:g} to "
                f"{LONGEST_US:g} us"
            )
    return processes


def _is_time(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and is_number(value)
        and SHORTEST_US <= value <= LONGEST_US
    )


def load(path: Path = STORED) -> Samples:
    """Errors: ValueError, in one line, also if rows differ in their processes."""
    fields = Fields(strict_json.load(path), "it")
    rows = fields["rows"]
    if not (isinstance(rows, dict) and rows):
        raise ValueError("rows is empty, or no object")
    times = {row: _times(row, processes) for row, processes in rows.items()}
    shapes = {
        (len(processes), len(repetitions))
        for processes in times.values()
        for repetitions in processes
    }
    started = fields["started_s"]
    if not (isinstance(started, list) and all(map(is_number, started))):
        raise fields.wrong("started_s", "a list of numbers")
    if len(shapes) > 1 or len(started) not in {len(row) for row in times.values()}:
        raise ValueError("not every row has the same processes and repetitions")
    about = fields["about"]
    if not isinstance(about, dict):
        raise fields.wrong("about", "an object")
    return Samples({key: str(value) for key, value in about.items()}, started, times)


def save(samples: Samples, path: Path) -> None:
    """Writes one line per row and process, so that diffs are readable."""
    rows = ",\n".join(
        f"  {json.dumps(name)}: [\n   "
        + ",\n   ".join(json.dumps(times) for times in processes)
        + "\n  ]"
        for name, processes in samples.rows.items()
    )
    text = (
        f'{{"about": {json.dumps(samples.about, indent=1)},\n'
        f' "started_s": {json.dumps(samples.started_s)},\n'
        f' "rows": {{\n{rows}\n }}\n}}\n'
    )
    write_files({path: text})
