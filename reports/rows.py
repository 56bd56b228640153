# SPDX-License-Identifier: MIT
"""A result file as typed rows."""

import json
import math
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


# What a result file has at its top level.
_PARTS = ("context", "benchmarks", "skipped", "errors", "complete")


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


def _check_numbers(entry: dict[str, Any]) -> None:
    name = entry["name"]
    for key, value in entry.items():
        # 1e999 is JSON, and infinite.
        if isinstance(value, float) and not math.isfinite(value):
            raise NotAResult(f"{key} of {name} is {value}; allowed: finite numbers")
    if not entry["real_time"] > 0:
        time = entry["real_time"]
        raise NotAResult(f"real_time of {name} is {time}; allowed: more than 0")
    if entry.get("time_unit", "us") != "us":
        unit = entry["time_unit"]
        raise NotAResult(f"time_unit of {name} is {unit!r}; allowed: us")


def _row(entry: dict[str, Any]) -> Row:
    _check_numbers(entry)
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
    if not isinstance(document, dict):
        raise NotAResult("it is not a result of trainbench, but a bare JSON value")
    missing = [key for key in _PARTS if key not in document]
    if missing:
        lacks = ", ".join(missing)
        raise NotAResult(f"it is not a result of trainbench: it lacks {lacks}")
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
    except NotAResult:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise NotAResult(f"it is not a result of trainbench: {error!r}") from error


def _refuse(constant: str) -> None:
    raise NotAResult(f"it holds {constant}, which is no number")


def _json(text: str) -> Any:
    if not text.strip():
        raise NotAResult("it is empty")
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        # What breaks off does so at the end, or in a string that never ends.
        at_end = error.pos >= len(text.rstrip()) - 1
        if at_end or error.msg.startswith("Unterminated string"):
            raise NotAResult("it breaks off: it is not the whole file") from error
        where = f"line {error.lineno}, column {error.colno}"
        raise NotAResult(f"it is no JSON ({where}: {error.msg})") from error


def load(path: Path) -> Result:
    """Errors: NotAResult, also for a file that cannot be read."""
    try:
        return parse(_json(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise NotAResult(f"{path}: it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise NotAResult(f"{path}: it is no text") from error
    except NotAResult as error:
        raise NotAResult(f"{path}: {error}") from error
