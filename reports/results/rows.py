# SPDX-License-Identifier: MIT
"""The rows of a result, and one row of several repetitions."""

import math
import re
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, TypeVar

import msgspec

from reports.results.counters import CounterTable, default_table
from reports.results.expectations import Expectation
from reports.results.order_statistics import median_ends
from reports.results.profiles import MemoryTable, Profile
from reports.results.records import NotAResult as NotAResult
from reports.results.records import shown

T = TypeVar("T")
K = TypeVar("K")
# The device_kind of a GPU that does nothing, without times or with predicted ones.
NULL_GPU, PREDICTED = "null_cuda", "predicted_cuda"
TIME = "p50_us"  # the counter of a row's time
# What an error calls a part of a row, by its field.
_KINDS = {"words": "parameter", "findings": "finding", "counters": "counter"}


class PartsOf(dict[str, T]):
    """Parts of a row; the error for a missing one names the row."""

    def __init__(self, row: str, kind: str, parts: Mapping[str, T]) -> None:
        super().__init__(parts)
        self._row, self._kind = row, kind

    def __missing__(self, key: str) -> T:
        """Raises NotAResult: every valid result has the parts that are asked for."""
        raise NotAResult(f"{self._row} lacks the {self._kind} {key}")


@dataclass(frozen=True)
class Turns:
    """A row's times in the turns that it took with others, for ratios of times."""

    case: str
    family: str  # names the interleaved rows, each with the same number of turns
    us: tuple[Annotated[float, msgspec.Meta(gt=0)], ...]  # the median time in each
    visits: tuple[int, ...] = ()  # the number of turns of each visit
    process_spread: float = 0.0  # by how much ratios vary between processes

    def __post_init__(self) -> None:
        count, visits = len(self.us), self.visits
        if count and visits and (min(visits) < 1 or sum(visits) != count):
            raise ValueError(
                f"visits are {shown([*visits])}; allowed: at least 1 turn in each, and "
                f"{count} in all"
            )


@dataclass(frozen=True)
class Row:
    """One measured case: the medians over its repetitions."""

    name: str
    time_us: float  # 0 on a null GPU
    words: dict[str, str]  # textual parameters, e.g. model, precision
    findings: dict[str, str]  # textual results, e.g. dtypes, kernel names
    counters: dict[str, float]  # numeric results and parameters
    repetitions: int = 1
    # The counters of each repetition, if each repetition is a process of its own.
    each: dict[str, tuple[float, ...]] = field(default_factory=dict)
    turns: Turns | None = None
    table: CounterTable = field(default_factory=default_table, repr=False)

    def __post_init__(self) -> None:
        for key, kind in _KINDS.items():
            parts = PartsOf(self.name, kind, getattr(self, key))
            object.__setattr__(self, key, parts)
        if self.time_us:
            self.counters.setdefault(TIME, self.time_us)

    @property
    def experiment(self) -> str:
        return self.name.partition("/")[0]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numeric parameters, parsed from the name."""
        parts = (part.partition(":") for part in self.name.split("/")[1:])
        return {key: int(number) for key, colon, number in parts if colon}

    @cached_property
    def parameters(self) -> dict[str, str]:
        """The parameters that identify the case: words and numbers."""
        return self.words | {key: str(value) for key, value in self.numbers.items()}

    def get(self, counter: str) -> float | None:
        return self.counters.get(counter)

    def __getitem__(self, counter: str) -> float:
        """Returns the counter. Errors: NotAResult, as for a missing word or finding."""
        return self.counters[counter]

    def positive(self, counter: str) -> float:
        """Returns a counter for a fit. Errors: NotAResult, also if not above 0."""
        value = self.counters[counter]
        if not value > 0:
            raise NotAResult(f"{counter} of {self.name} is {value:g}; allowed: above 0")
        return value


@dataclass(frozen=True)
class Failure:
    """A case that was skipped or failed."""

    name: str
    reason: str

    @property
    def experiment(self) -> str:
        return self.name.partition("/")[0]


@dataclass(frozen=True)
class Asked:
    """The question and the expectation of an experiment, in words."""

    experiment: str
    question: str
    expect: str


@dataclass(frozen=True)
class Result:
    context: dict[str, str]
    rows: list[Row]
    skipped: list[Failure]
    errors: list[Failure]
    complete: bool  # whether the run finished
    expectations: list[Expectation] = field(default_factory=list)
    profiles: list[Profile] = field(default_factory=list)  # of steps of a breakdown
    memory: list[MemoryTable] = field(default_factory=list)  # of rows of `memory`
    rehearsals: list[dict[str, Any]] = field(default_factory=list)  # on a null GPU
    # By experiment.
    questions: dict[str, Asked] = field(default_factory=dict)

    @cached_property
    def _experiments(self) -> dict[str, list[Row]]:
        return grouped(self.rows, lambda row: row.experiment)

    @cached_property
    def by_name(self) -> dict[str, Row]:
        return {row.name: row for row in self.rows}

    @property
    def started(self) -> float | None:
        """The start time in seconds since the epoch; None without a valid date."""
        try:
            return datetime.fromisoformat(self.context.get("date", "")).timestamp()
        except ValueError:
            return None

    @property
    def of_null_gpu(self) -> bool:
        """Whether nothing was timed, because the device is a null GPU."""
        return self.context.get("device_kind") == NULL_GPU

    @property
    def names(self) -> list[str]:
        """The names of all cases, measured or not."""
        failures = [failure.name for failure in (*self.skipped, *self.errors)]
        return list(dict.fromkeys([*(row.name for row in self.rows), *failures]))

    @property
    def processes(self) -> int:
        """The number of processes that each repeated the rows."""
        return max((row.repetitions for row in self.rows if row.each), default=1)

    @property
    def is_dirty(self) -> bool:
        """Whether the program was built from sources with uncommitted changes."""
        return self.context.get("git_dirty", "").lower() in ("true", "1")

    def profile_of(self, rows: Iterable[Row]) -> Profile | None:
        """Returns the profile of the step that one of the rows belongs to."""
        names = {row.name for row in rows}
        return next((one for one in self.profiles if one.case in names), None)

    @property
    def revision(self) -> str:
        """The git revision's first 12 digits, with a + if the tree was dirty."""
        revision = self.context.get("git_revision", "")[:12] or "unknown"
        return revision + ("+" if self.is_dirty else "")

    def of(self, experiment: str, **words: str) -> list[Row]:
        """Returns the experiment's rows with these textual parameters, in run order."""
        rows = self._experiments.get(experiment, ())
        return [row for row in rows if words.items() <= row.words.items()]


def ends_of(counter: str) -> tuple[str, str]:
    """Returns the counters of its interval's ends, e.g. p50_low_us and p50_high_us."""
    stem = counter.removesuffix("_us")
    us = counter.removeprefix(stem)
    return f"{stem}_low{us}", f"{stem}_high{us}"


def _first_number(said: str) -> float:
    """Returns the first number in a finding's text; 0 without any."""
    found = re.search(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", said)
    return float(found.group()) if found else 0.0


def _findings(rows: list[Row]) -> dict[str, str]:
    """Returns the findings of at least half of the repetitions, each with the text that
    has the median number. A result that is wrong once is wrong."""
    texts: dict[str, list[str]] = {}
    for row in rows:
        for key, said in row.findings.items():
            texts.setdefault(key, []).append(said)
    return {
        key: sorted(said, key=_first_number)[(len(said) - 1) // 2]
        for key, said in texts.items()
        if key == "wrong" or 2 * len(said) >= len(rows)
    }


def _of_all(
    name: str, each: Mapping[str, tuple[float, ...]], table: CounterTable
) -> float:
    """Merges a counter's values: of a least value the least, of a greatest one the
    greatest, of means and standard deviations the one of all samples, of others the
    median. An amount over the row's time is over the merged one."""
    values = each[name]
    times, counter = each.get(TIME, ()), table.find(name)
    # What the table has in a unit per second, except for kernels' own rates.
    is_rate = counter.kind == "rate" and counter.unit.endswith("/s")
    is_rate = is_rate and not name.startswith("kernel_")
    if is_rate and all(times) and len(times) == len(values):
        amounts = [value * us for value, us in zip(values, times, strict=True)]
        return statistics.median(amounts) / statistics.median(times)
    if name.endswith("min_us"):
        return min(values)
    if name.endswith("max_us"):
        return max(values)
    samples = each.get("samples", ())
    weights = samples if any(samples) else None
    if name.endswith("mean_us"):
        return statistics.fmean(values, weights)
    means = each.get(f"{name.removesuffix('stddev_us')}mean_us")
    if name.endswith("stddev_us") and means:
        mean = statistics.fmean(means, weights)
        pairs = zip(values, means, strict=True)
        squares = (within**2 + (one - mean) ** 2 for within, one in pairs)
        return math.sqrt(statistics.fmean(squares, weights))
    return statistics.median(values)


def _merged(rows: list[Row], is_process: bool) -> Row:
    """Merges the repetitions, counter by counter; of most it takes the median.

    Given enough repetitions, the interval comes from them: it is more reliable than one
    from the samples of one repetition. With fewer it contains the interval of each.
    `is_process`: each repetition is a process.
    """
    if len(rows) == 1:
        return rows[0]
    each = {
        name: tuple(row.counters[name] for row in rows)
        for name in rows[0].counters
        if all(name in row.counters for row in rows)
    }
    if all(row.each for row in rows):  # parts of a run, process by process
        parts = {name: [row.each[name] for row in rows] for name in each}
        each = {
            name: tuple(map(statistics.median, zip(*part, strict=False)))
            for name, part in parts.items()
        }
    counters = {name: _of_all(name, each, rows[0].table) for name in each}
    for name, values in each.items():
        low, high = ends_of(name)
        if low in each and high in each:
            widest = min(each[low]), max(each[high])
            counters[low], counters[high] = median_ends(values) or widest
    findings = _findings(rows)
    if median_ends(each.get(TIME, ())):
        findings.pop("wide", None)  # it describes the interval of one repetition
    return replace(
        rows[0],
        findings=findings,
        time_us=statistics.median(row.time_us for row in rows),
        counters=counters,
        repetitions=len(next(iter(each.values()), rows)),
        turns=None,  # the file has the turns of one repetition only
        each=each if is_process or rows[0].each else {},
    )


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Groups items by key; keys and items keep the order of first appearance."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def with_most(rows: Iterable[Row], counter: str) -> Row | None:
    """Returns the row with the highest value of the counter; None if no row has one."""
    having = (row for row in rows if row.get(counter))
    return max(having, key=lambda row: row[counter], default=None)


def one_per_case(rows: Iterable[Row], is_process: bool = False) -> list[Row]:
    """Returns one row per case, in the order in which the cases first appear."""
    repetitions = grouped(rows, lambda row: row.name)
    return [_merged(rows, is_process) for rows in repetitions.values()]


def one_per_failed_case(
    failures: Iterable[Failure], but: Collection[str] = ()
) -> list[Failure]:
    """Returns one failure per case, because several processes or parts of a run may
    report the same; none for the cases in `but`."""
    return list({case.name: case for case in failures if case.name not in but}.values())
