# SPDX-License-Identifier: MIT
"""A result file as typed rows."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from reports.results import strict_json
from reports.results.checked_entry import NotAResult as NotAResult
from reports.results.checked_entry import (
    PartsOf,
    check_entry,
    flag_of,
    is_number,
    word_of,
)
from reports.results.counters import CounterTable, counter_table, default_table
from reports.results.expectations import Expectation, expectation
from reports.results.memory_tables import MemoryTable, memory_table
from reports.results.order_statistics import median_ends
from reports.results.profiles import Profile, profile
from reports.results.strict_json import NotJson

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
NULL_GPU = "null_cuda"  # the device_kind of a GPU that does nothing
# The keys at the top level of a result file. A file of an earlier version lacks
# "expectations", and one without a breakdown "profiles".
_KEYS = ("context", "benchmarks", "skipped", "errors", "complete")


@dataclass(frozen=True)
class Turns:
    """The turns that a row took with others, for the ratios of their times."""

    family: str  # which rows took them: as many turns each, side by side
    us: tuple[float, ...]  # the row's median time in each


@dataclass(frozen=True)
class Row:
    """One measured case: the medians over its repetitions."""

    name: str
    time_us: float  # 0 on a null GPU
    words: dict[str, str]  # textual parameters, e.g. model, precision
    findings: dict[str, str]  # textual results, e.g. dtypes, kernel names
    counters: dict[str, float]  # numeric results and parameters
    repetitions: int = 1
    # Of several repetitions, each a process of its own: the counters in each.
    each: dict[str, tuple[float, ...]] = field(default_factory=dict)
    turns: Turns | None = None
    table: CounterTable = field(default_factory=default_table, repr=False)

    def __post_init__(self) -> None:
        for key, kind in (
            ("words", "parameter"),
            ("findings", "finding"),
            ("counters", "counter"),
        ):
            parts = PartsOf(self.name, kind, getattr(self, key))
            object.__setattr__(self, key, parts)

    @property
    def experiment(self) -> str:
        return self.name.partition("/")[0]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The parameters that are numbers, which the name has, too."""
        parts = (part.partition(":") for part in self.name.split("/")[1:])
        return {key: int(number) for key, colon, number in parts if colon}

    @cached_property
    def parameters(self) -> dict[str, str]:
        """What tells the case from others: words and numbers."""
        return self.words | {key: str(value) for key, value in self.numbers.items()}

    def get(self, counter: str) -> float | None:
        return self.counters.get(counter)

    def __getitem__(self, counter: str) -> float:
        """Errors: NotAResult, as for a missing word or finding."""
        return self.counters[counter]

    def positive(self, counter: str) -> float:
        """Errors: NotAResult, also if it is not above 0, where a fit needs that."""
        value = self.counters[counter]
        if not value > 0:
            raise NotAResult(f"{counter} of {self.name} is {value:g}; allowed: above 0")
        return value


@dataclass(frozen=True)
class Failure:
    """A case that was skipped or failed."""

    name: str
    reason: str


@dataclass(frozen=True)
class Question:
    """What an experiment asked, and what it expected, in words."""

    text: str
    expect: str


@dataclass(frozen=True)
class Result:
    context: dict[str, str]
    rows: list[Row]
    skipped: list[Failure]
    errors: list[Failure]
    complete: bool  # whether the run came to its end
    expectations: list[Expectation] = field(default_factory=list)
    profiles: list[Profile] = field(default_factory=list)  # of steps of a breakdown
    memory: list[MemoryTable] = field(default_factory=list)  # of rows of `memory`
    # By experiment; a file of an earlier version has none.
    questions: dict[str, Question] = field(default_factory=dict)

    @property
    def started(self) -> float | None:
        """The start time in seconds; None without a valid date."""
        try:
            return datetime.fromisoformat(self.context.get("date", "")).timestamp()
        except ValueError:
            return None

    @property
    def of_null_gpu(self) -> bool:
        """Whether nothing was timed, because the GPU did nothing."""
        return self.context.get("device_kind") == NULL_GPU

    @property
    def names(self) -> list[str]:
        """The names of all cases, measured or not."""
        failures = [failure.name for failure in (*self.skipped, *self.errors)]
        return [row.name for row in self.rows] + failures

    def profile_of(self, rows: Iterable[Row]) -> Profile | None:
        """The profile of the step that one of the rows is of."""
        names = {row.name for row in rows}
        return next((one for one in self.profiles if one.case in names), None)

    def revision(self, digits: int) -> str:
        """The first `digits` of the git revision, with a + if the tree was dirty."""
        revision = self.context.get("git_revision", "")[:digits] or "unknown"
        dirty = self.context.get("git_dirty", "").lower() in ("true", "1")
        return revision + ("+" if dirty else "")

    def of(self, experiment: str, **words: str) -> list[Row]:
        """The rows of an experiment with these textual parameters, in run order."""
        return [
            row
            for row in self.rows
            if row.experiment == experiment
            and all(row.words.get(key) == word for key, word in words.items())
        ]


def _pairs(text: str, separator: str) -> dict[str, str]:
    return dict(item.split("=", 1) for item in text.split(separator) if "=" in item)


def _texts(entry: dict[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The textual parameters and results. A file of before has them in its label."""
    if "parameters" in entry:
        words = {
            key: value
            for key, value in entry["parameters"].items()
            if isinstance(value, str)
        }
        return words, dict(entry.get("findings", {}))
    parameters, _, findings = entry.get("label", "").partition(" | ")
    return _pairs(parameters, " "), _pairs(findings, ", ")


def _row(entry: dict[str, Any], is_timed: bool, table: CounterTable) -> Row:
    check_entry(entry, is_timed, lambda name: table.find(name).is_amount)
    words, findings = _texts(entry)
    counters = {
        key: float(value)
        for key, value in entry.items()
        if is_number(value) and key not in _NOT_COUNTERS
    }
    return Row(
        name=entry["name"],
        time_us=float(entry["real_time"]),
        words=words,
        findings=findings,
        counters=counters,
        table=table,
    )


def ends_of(counter: str) -> tuple[str, str]:
    """The counters with the ends of its interval, e.g. p50_low_us and p50_high_us."""
    stem, us, _ = (
        counter.rpartition("_us") if counter.endswith("_us") else (counter, "", "")
    )
    return f"{stem}_low{us}", f"{stem}_high{us}"


def _median(rows: list[Row], is_process: bool) -> Row:
    """The median repetition, counter by counter.

    Where there are enough of them for an interval, they tell more of it than the
    samples of one do. `is_process`: each is one.
    """
    first = rows[0]
    if len(rows) == 1:
        return first
    names = [name for name in first.counters if all(name in r.counters for r in rows)]
    counters = {
        name: statistics.median(row.counters[name] for row in rows) for name in names
    }
    for name in names:
        between = median_ends([row.counters[name] for row in rows])
        keys = [end for end in ends_of(name) if end in counters]
        if between is not None and len(keys) == 2:
            counters.update(zip(keys, between, strict=True))
    return replace(
        first,
        time_us=statistics.median(row.time_us for row in rows),
        counters=counters,
        repetitions=len(rows),
        turns=None,  # the file has those of one repetition
        each={name: tuple(row.counters[name] for row in rows) for name in names}
        if is_process
        else {},
    )


def one_per_case(rows: Iterable[Row], is_process: bool = False) -> list[Row]:
    """One row per case, in the order in which the cases first appear."""
    repetitions: dict[str, list[Row]] = {}
    for row in rows:
        repetitions.setdefault(row.name, []).append(row)
    return [_median(rows, is_process) for rows in repetitions.values()]


def _turns(document: dict[str, Any]) -> dict[str, Turns]:
    """By case."""
    found = {}
    for entry in document.get("turns", []):
        us = entry["us"]
        if not all(is_number(value) and value > 0 for value in us):
            raise NotAResult(
                f"a turn of {word_of(entry, 'case')} has no time above 0: {us}"
            )
        turns = Turns(word_of(entry, "family"), tuple(float(value) for value in us))
        found[word_of(entry, "case")] = turns
    return found


def _failures(entries: Iterable[dict[str, Any]]) -> list[Failure]:
    return [
        Failure(word_of(entry, "name"), word_of(entry, "reason")) for entry in entries
    ]


def _flagged(
    entries: Iterable[dict[str, Any]], flag: str, message: str
) -> list[Failure]:
    """The rows in which Google Benchmark says why they have no number."""
    return [
        Failure(word_of(entry, "name"), word_of(entry, message))
        for entry in entries
        if flag_of(entry, flag)
    ]


def _of_cases(failures: Iterable[Failure]) -> list[Failure]:
    """One for each case, of which several processes can say the same."""
    return list({failure.name: failure for failure in failures}.values())


def parse(document: Any) -> Result:
    """Errors: NotAResult."""
    if not isinstance(document, dict):
        raise NotAResult("it is not a result of trainbench, but a bare JSON value")
    missing = [key for key in _KEYS if key not in document]
    if missing:
        lacks = ", ".join(missing)
        raise NotAResult(f"it is not a result of trainbench: it lacks {lacks}")
    try:
        context = {key: str(value) for key, value in document["context"].items()}
        is_timed = context.get("device_kind") != NULL_GPU
        entries = [
            entry
            for entry in document["benchmarks"]
            if word_of(entry, "run_type") == "iteration"
        ]
        skipped = _flagged(entries, "skipped", "skip_message")
        errors = _flagged(entries, "error_occurred", "error_message")
        turns = _turns(document)
        # A file of an earlier version, or of Google Benchmark alone, lacks it.
        listed = document.get("counters")
        table = default_table() if listed is None else counter_table(listed)
        rows = (
            replace(_row(entry, is_timed, table), turns=turns.get(entry["name"]))
            for entry in entries
            if not (flag_of(entry, "skipped") or flag_of(entry, "error_occurred"))
        )
        return Result(
            context=context,
            rows=one_per_case(rows, is_process="processes" in context),
            skipped=_of_cases(_failures(document["skipped"]) + skipped),
            errors=_of_cases(_failures(document["errors"]) + errors),
            complete=flag_of(document, "complete"),
            expectations=[
                expectation(entry, table) for entry in document.get("expectations", [])
            ],
            profiles=[profile(entry) for entry in document.get("profiles", [])],
            memory=[memory_table(entry) for entry in document.get("memory", [])],
            questions={
                word_of(entry, "experiment"): Question(
                    word_of(entry, "question"), word_of(entry, "expect")
                )
                for entry in document.get("questions", [])
            },
        )
    except NotAResult:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise NotAResult(f"it is not a result of trainbench: {error!r}") from error


def load(path: Path) -> Result:
    """Errors: NotAResult, also for a file that cannot be read."""
    try:
        return parse(strict_json.load(path))
    except (NotJson, NotAResult) as error:
        raise NotAResult(f"{path}: {error}") from error
