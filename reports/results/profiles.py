# SPDX-License-Identifier: MIT
"""The tables of a profiled step, as its result file holds them.

fixtures/steps/profile_document.h says what each number is. On a null GPU there are no
times.
"""

from dataclasses import dataclass
from typing import Any

from reports.results.checked_entry import (
    NotAResult,
    number_of,
    numbers_of,
    word_of,
)


@dataclass(frozen=True)
class Times:
    """In microseconds."""

    mean: float
    median: float
    least: float
    most: float
    stddev: float


@dataclass(frozen=True)
class Kernel:
    """A kernel or an operator."""

    phase: str
    name: str
    family: str
    instances: int  # in a step
    total_us: float | None  # in a step
    times: Times | None  # of the instances of all passes
    totals_us: list[float] | None = None  # of each pass; files of before lack it


@dataclass(frozen=True)
class Range:
    """A part of a step over the passes."""

    phase: str
    name: str
    instances: int  # in a step
    host: Times | None
    device: Times | None


@dataclass(frozen=True)
class Copies:
    """Of one kind, in a step."""

    phase: str
    component: str
    direction: str
    name: str
    count: int
    bytes: int
    time_us: float | None
    bytes_per_second: float | None


@dataclass(frozen=True)
class Profile:
    case: str
    passes: int
    of: str  # "kernels" or "operators"
    kernels: list[Kernel]
    ranges: list[Range]
    copies: list[Copies]


def _number(entry: dict[str, Any], key: str) -> float:
    return number_of(entry, key, "a profile")


def _optional(entry: dict[str, Any], key: str) -> float | None:
    return _number(entry, key) if key in entry else None


def _count(entry: dict[str, Any], key: str) -> int:
    return int(_number(entry, key))


def _times(entry: dict[str, Any], key: str) -> Times | None:
    if key not in entry:
        return None
    names = ("mean", "median", "min", "max", "stddev")
    return Times(*(_number(entry[key], name) for name in names))


def _totals(time: dict[str, Any], passes: int) -> list[float] | None:
    if "totals" not in time:
        return None
    totals = numbers_of(time, "totals", "a profile")
    if len(totals) != passes:
        raise NotAResult(
            f"totals in a profile are {len(totals)}; allowed: one for each of its "
            f"{passes} passes"
        )
    return totals


def _kernel(entry: dict[str, Any], passes: int) -> Kernel:
    times = _times(entry, "time_us")
    return Kernel(
        word_of(entry, "phase"),
        word_of(entry, "name"),
        word_of(entry, "family"),
        _count(entry, "instances"),
        None if times is None else _number(entry["time_us"], "total"),
        times,
        None if times is None else _totals(entry["time_us"], passes),
    )


def _range(entry: dict[str, Any]) -> Range:
    return Range(
        word_of(entry, "phase"),
        word_of(entry, "range"),
        _count(entry, "instances"),
        _times(entry, "host_us"),
        _times(entry, "device_us"),
    )


def _copies(entry: dict[str, Any]) -> Copies:
    return Copies(
        word_of(entry, "phase"),
        word_of(entry, "component"),
        word_of(entry, "direction"),
        word_of(entry, "name"),
        _count(entry, "count"),
        _count(entry, "bytes"),
        _optional(entry, "time_us"),
        _optional(entry, "bytes_per_second"),
    )


def profile(entry: dict[str, Any]) -> Profile:
    """Errors: NotAResult, KeyError, TypeError and AttributeError, if it is none."""
    passes = _count(entry, "passes")
    return Profile(
        word_of(entry, "case"),
        passes,
        word_of(entry, "of"),
        [_kernel(kernel, passes) for kernel in entry["kernels"]],
        [_range(span) for span in entry["ranges"]],
        [_copies(copies) for copies in entry["copies"]],
    )
