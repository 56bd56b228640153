# SPDX-License-Identifier: MIT
"""The rows of several results of one machine as tables, in the order of dates."""

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

    labels: list[str]  # the revision of each file
    times: pandas.DataFrame  # us; [row, file], in the order of the run
    missing: pandas.DataFrame  # reason for a missing time: "skipped", "error" or ""

    @property
    def common(self) -> pandas.DataFrame:
        """The rows that all files have; files without any row are ignored."""
        return self.times.dropna(axis=1, how="all").dropna()

    @property
    def ratios(self) -> pandas.DataFrame:
        """The times of the common rows relative to the first file."""
        common = self.common[(self.common > 0).all(axis=1)]
        return common if common.empty else common.div(common.iloc[:, 0], axis=0)

    def what_is_left_out(self) -> str:
        """The numbers of rows and files without a ratio; empty if there are none."""
        counts = {
            f"of {len(self.times)} rows not in every file": (
                len(self.times) - len(self.common)
            ),
            "without any time": len(self.common) - len(self.ratios),
            "files without any row": int(self.times.isna().all().sum()),
        }
        parts = [f"{count} {what}" for what, count in counts.items() if count]
        return f"left out: {', '.join(parts)}" if parts else ""


def _date(result: Result) -> float:
    """The start in seconds; a result without a date comes last."""
    return math.inf if result.started is None else result.started


def _labels(results: list[Result]) -> list[str]:
    """The revision of each result, with a number if a revision ran repeatedly."""
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
    """All cases of all files, measured or not."""
    return list(dict.fromkeys(name for result in results for name in result.names))


def collect(results: list[Result]) -> Runs:
    """Errors: ValueError, if the results come from different devices."""
    _require_one_machine(results)
    ordered = sorted(results, key=_date)
    names, labels = _names(ordered), _labels(ordered)
    times = pandas.DataFrame(np.nan, index=names, columns=labels)
    missing = pandas.DataFrame("", index=names, columns=labels)
    for label, result in zip(labels, ordered, strict=True):
        measured = {row.name: row.time_us for row in result.rows}
        times.loc[list(measured), label] = list(measured.values())
        for failures, why in ((result.skipped, "skipped"), (result.errors, "error")):
            # A case that failed in one repetition only has a time.
            failed = [case.name for case in failures if case.name not in measured]
            missing.loc[failed, label] = why
    return Runs(labels, times, missing)
