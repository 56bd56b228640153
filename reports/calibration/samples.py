# SPDX-License-Identifier: MIT
"""The measured repetitions of one binary in many processes, in a JSON file.

{"about": {...}, "started_s": [0.0, ...], "rows": {"name": [[us, ...], ...]}}: each row
has a list of repetitions for each process, in process order.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from msgspec import Meta
from scipy.stats import f_oneway

from reports.compare.intervals import Floats as Floats
from reports.results import records
from reports.results.files import write_files
from reports.results.records import record
from reports.results.result_file import LONGEST_US, SHORTEST_US

Time = Annotated[float, Meta(ge=SHORTEST_US, le=LONGEST_US)]

STORED = Path(__file__).with_name("same_binary.json")


@dataclass(frozen=True)
class Samples:
    about: dict[str, str]  # machine, revision, flags
    started_s: list[float]  # start of each process, relative to the first start
    rows: dict[str, list[list[Time]]]  # us, [process][repetition]

    @property
    def times(self) -> Floats:
        """All times, [process, row, repetition], in us."""
        return np.array(list(self.rows.values()), float).transpose(1, 0, 2)

    @property
    def medians(self) -> Floats:
        """The results of the processes, [process, row], in us."""
        return np.median(self.times, axis=2)


def share_between(log_times: Floats) -> float:
    """Returns the share of the variance between processes, from [process, repetition].

    This is the intraclass correlation of a one-way ANOVA.
    """
    ratio = float(f_oneway(*log_times).statistic)  # of the variance between to within
    return max(0.0, float((ratio - 1) / (ratio + log_times.shape[1] - 1)))


def check(samples: Samples) -> None:
    """Errors: ValueError, in one line, if rows differ in shape."""
    shapes = {
        (len(processes), len(repetitions))
        for processes in samples.rows.values()
        for repetitions in processes
    }
    if len(shapes) != 1 or len(samples.started_s) != next(iter(shapes))[0]:
        raise ValueError("not every row has the same processes and repetitions")


def load(path: Path = STORED) -> Samples:
    """Loads samples. Errors: ValueError, as of `check`."""
    samples = record(records.load(path), Samples)
    check(samples)
    return samples


def save(samples: Samples, path: Path) -> None:
    write_files({path: json.dumps(asdict(samples), indent=1) + "\n"})
