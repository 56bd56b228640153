# SPDX-License-Identifier: MIT
"""Several results of one machine, side by side in the order of their dates."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas

from reports.results.rows import Result

DIGITS = 7  # of a revision


@dataclass(frozen=True)
class Runs:
    """Several results of one machine, by date."""

    labels: list[str]  # of each file its revision
    times: pandas.DataFrame  # us; a line per row, in the order of the run
    missing: pandas.DataFrame  # why there is no time: "skipped", "error" or ""

    @property
    def common(self) -> pandas.DataFrame:
        """The rows that all files have, but for files that have none."""
        return self.times.dropna(axis=1, how="all").dropna()

    @property
    def ratios(self) -> pandas.DataFrame:
        """Of the common rows, to the first file."""
        common = self.common[(self.common > 0).all(axis=1)]
        return common if common.empty else common.div(common.iloc[:, 0], axis=0)

    def what_is_left_out(self) -> str:
        """Of the comparison; empty if nothing is."""
        counts = {
            f"of {len(self.times)} rows not in every file": (
                len(self.times) - len(self.common)
            ),
            "without any time": len(self.common) - len(self.ratios),
            "files without any row": int(self.times.isna().all().sum()),
        }
        told = [f"{count} {what}" for what, count in counts.items() if count]
        return f"left out: {', '.join(told)}" if told else ""


def _date(result: Result) -> float:
    """Seconds; after all others where there is none."""
    return math.inf if result.started is None else result.started


def _labels(results: list[Result]) -> list[str]:
    """Each is there once: of a revision that was run again, which run it is."""
    seen: Counter[str] = Counter()
    labels = []
    for result in results:
        label = result.revision(DIGITS)
        seen[label] += 1
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return labels


def _require_one_machine(results: list[Result]) -> None:
    devices = {
        result.context["device"] for result in results if "device" in result.context
    }
    if len(devices) > 1:
        raise ValueError(f"results of different devices: {', '.join(sorted(devices))}")


def _names(results: list[Result]) -> list[str]:
    """Every case that any file tells of, measured or not."""
    found: dict[str, None] = {}
    for result in results:
        for case in [*result.rows, *result.skipped, *result.errors]:
            found.setdefault(case.name)
    return list(found)


def collect(results: list[Result]) -> Runs:
    """ValueError if the results are of different devices."""
    _require_one_machine(results)
    ordered = sorted(results, key=_date)
    names, labels = _names(ordered), _labels(ordered)
    times = pandas.DataFrame(np.nan, index=names, columns=labels)
    missing = pandas.DataFrame("", index=names, columns=labels)
    for label, result in zip(labels, ordered, strict=True):
        measured = {row.name: row.time_us for row in result.rows}
        times.loc[list(measured), label] = list(measured.values())
        for failures, why in ((result.skipped, "skipped"), (result.errors, "error")):
            # What was measured in one repetition and failed in another has a time.
            failed = [case.name for case in failures if case.name not in measured]
            missing.loc[failed, label] = why
    return Runs(labels, times, missing)
