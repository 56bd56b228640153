# SPDX-License-Identifier: MIT
"""A result file as typed rows."""

import json
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_NOT_COUNTERS = {
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
}


class NotAResult(ValueError):
    """The file is none of ours; the message says why, in one line."""


@dataclass(frozen=True)
class Row:
    """One measured case; of several repetitions the medians."""

    name: str
    time_us: float
    words: dict[str, str]  # parameters that are words, e.g. model, precision
    findings: dict[str, str]  # what the case found out, in words
    counters: dict[str, float]  # numeric parameters among them

    @property
    def experiment(self) -> str:
        return self.name.partition("/")[0]

    def get(self, counter: str) -> float | None:
        return self.counters.get(counter)

    def __getitem__(self, counter: str) -> float:
        return self.counters[counter]


@dataclass(frozen=True)
class Failure:
    """A case without a number."""

    name: str
    reason: str


@dataclass(frozen=True)
class Result:
    context: dict[str, str]
    rows: list[Row]
    skipped: list[Failure]
    errors: list[Failure]
    complete: bool  # whether the run came to its end

    def of(self, experiment: str, **words: str) -> list[Row]:
        """The experiment's rows with these words, in the order of the run."""
        return [
            row
            for row in self.rows
            if row.experiment == experiment
            and all(row.words.get(key) == word for key, word in words.items())
        ]


def _pairs(text: str, separator: str) -> dict[str, str]:
    return dict(item.split("=", 1) for item in text.split(separator) if "=" in item)


def _row(entry: dict[str, Any]) -> Row:
    parameters, _, findings = entry.get("label", "").partition(" | ")
    counters = {
        key: float(value)
        for key, value in entry.items()
        if isinstance(value, int | float) and key not in _NOT_COUNTERS
    }
    return Row(
        name=entry["name"],
        time_us=float(entry["real_time"]),
        words=_pairs(parameters, " "),
        findings=_pairs(findings, ", "),
        counters=counters,
    )


def _median(rows: list[Row]) -> Row:
    """Of the repetitions of one case, counter by counter."""
    first = rows[0]
    if len(rows) == 1:
        return first
    names = [name for name in first.counters if all(name in r.counters for r in rows)]
    return replace(
        first,
        time_us=statistics.median(row.time_us for row in rows),
        counters={
            name: statistics.median(row.counters[name] for row in rows)
            for name in names
        },
    )


def _cases(rows: Iterable[Row]) -> list[Row]:
    """One row per case, in the order in which the cases first appear."""
    repetitions: dict[str, list[Row]] = {}
    for row in rows:
        repetitions.setdefault(row.name, []).append(row)
    return [_median(rows) for rows in repetitions.values()]


def _failures(entries: Iterable[dict[str, Any]]) -> list[Failure]:
    return [Failure(entry["name"], entry["reason"]) for entry in entries]


def parse(document: Any) -> Result:
    """Errors: NotAResult."""
    try:
        return Result(
            context={key: str(value) for key, value in document["context"].items()},
            rows=_cases(
                _row(entry)
                for entry in document["benchmarks"]
                if entry["run_type"] == "iteration"
            ),
            skipped=_failures(document["skipped"]),
            errors=_failures(document["errors"]),
            complete=bool(document["complete"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise NotAResult(f"not a result of trainbench: {error!r}") from error


def load(path: Path) -> Result:
    """Errors: NotAResult, also for a file that cannot be read."""
    try:
        return parse(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise NotAResult(f"{path}: {error}") from error
    except NotAResult as error:
        raise NotAResult(f"{path}: {error}") from error
