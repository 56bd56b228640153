# SPDX-License-Identifier: MIT
"""Checks the entries of a result file before they are used."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard, TypeVar

T = TypeVar("T")

# The keys of Google Benchmark whose values are text.
_WORDS = {
    "name",
    "run_name",
    "run_type",
    "label",
    "time_unit",
    "aggregate_name",
    "aggregate_unit",
    "error_message",
    "skip_message",
}
_FLAGS = {"error_occurred", "skipped"}
_OBJECTS = {"parameters", "findings"}
# Times beyond these limits, in us, may give ratios of 0 or infinity.
SHORTEST_US, LONGEST_US = 1e-9, 1e15
# Beyond any count, and small enough for the arithmetic of a report.
LARGEST = 1e100


class NotAResult(ValueError):
    """The file is no result of trainbench. The message says why, in one line."""


class PartsOf(dict[str, T]):
    """Parts of a row, which say whose they are where one is missing."""

    def __init__(self, row: str, kind: str, parts: Mapping[str, T]) -> None:
        super().__init__(parts)
        self._row, self._kind = row, kind

    def __missing__(self, key: str) -> T:
        """Errors: NotAResult, because the program writes what is asked for."""
        raise NotAResult(f"{self._row} lacks the {self._kind} {key}")


def word_of(entry: dict[str, Any], key: str) -> str:
    """The text at `key`. Errors: NotAResult, also if it is missing."""
    if key not in entry:
        whose = f" of {entry['name']!r}" if "name" in entry else ""
        raise NotAResult(
            f"it is not a result of trainbench: an entry{whose} lacks {key}"
        )
    value = entry[key]
    if not isinstance(value, str):
        raise NotAResult(f"{key} is {shown(value)}; allowed: a text")
    return value


def flag_of(entry: dict[str, Any], key: str) -> bool:
    """Whether it is set; False if it is missing. Errors: NotAResult."""
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise NotAResult(f"{key} is {shown(value)}; allowed: true or false")
    return value


def shown(value: object) -> str:
    """The value for an error message, in one line of bounded length."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of too many digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a finite number. Booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def number_of(entry: dict[str, Any], key: str, what: str) -> float:
    """The finite number at `key` of `what`, e.g. a profile. Errors: NotAResult;
    KeyError, if it is missing."""
    if not is_number(entry[key]):
        raise NotAResult(
            f"{key} in {what} is {shown(entry[key])}; allowed: finite numbers"
        )
    return float(entry[key])


def numbers_of(entry: dict[str, Any], key: str, what: str) -> list[float]:
    """The finite numbers at `key` of `what`. Errors: NotAResult; KeyError, if they are
    missing."""
    values = entry[key]
    if not isinstance(values, list) or not all(map(is_number, values)):
        raise NotAResult(f"{key} in {what} is {shown(values)}; allowed: finite numbers")
    return [float(value) for value in values]


def _check_object(name: str, key: str, value: object) -> None:
    """Checks names with texts, or as parameters numbers."""
    if not isinstance(value, dict):
        raise NotAResult(f"{key} of {name} is {shown(value)}; allowed: an object")
    for item, content in value.items():
        is_number_of_name = key == "parameters" and is_number(content)
        if not isinstance(content, str) and not is_number_of_name:
            raise NotAResult(
                f"{item} in {key} of {name} is {shown(content)}; allowed: a text"
            )


def _check_name(name: str) -> None:
    """Checks that it is a case's, e.g. e/fp32/seq:8."""
    if not name.isprintable() or len(name) > 255:
        raise NotAResult(f"name is {shown(name)}; allowed: up to 255 printable letters")
    for part in name.split("/")[1:]:
        key, colon, number = part.partition(":")
        if colon and not re.fullmatch(r"-?[0-9]{1,19}", number):
            raise NotAResult(
                f"{key} in the name {shown(name)} is {number!r}; allowed: whole numbers"
            )


def _check_counter(
    name: str, key: str, value: object, is_amount: Callable[[str], bool]
) -> None:
    if not is_number(value):  # 1e999 is JSON, and infinite
        allowed = "finite numbers"
    elif abs(value) > LARGEST:
        allowed = f"at most {LARGEST:g}"
    elif value < 0 and is_amount(key):
        allowed = "0 or more"
    else:
        return
    raise NotAResult(f"{key} of {name} is {shown(value)}; allowed: {allowed}")


def check_entry(
    entry: dict[str, Any], is_timed: bool, is_amount: Callable[[str], bool]
) -> None:
    """Checks a measured row, whose time is 0 if it is not timed. `is_amount` says
    which counters are never below 0. Errors: NotAResult."""
    name = word_of(entry, "name")
    _check_name(name)
    for key, value in entry.items():
        if key in _WORDS:
            word_of(entry, key)
        elif key in _FLAGS:
            continue
        elif key in _OBJECTS:
            _check_object(name, key, value)
        else:
            _check_counter(name, key, value, is_amount)
    time = entry["real_time"]
    if not is_timed:
        if time != 0:
            raise NotAResult(f"real_time of {name} is {time}; a null GPU has none: 0")
        return
    if not time > 0:
        raise NotAResult(f"real_time of {name} is {time}; allowed: more than 0")
    if not SHORTEST_US <= time <= LONGEST_US:
        raise NotAResult(
            f"real_time of {name} is {time:g} us; allowed: {SHORTEST_US:g} to "
            f"{LONGEST_US:g}"
        )
    if entry.get("time_unit", "us") != "us":
        unit = entry["time_unit"]
        raise NotAResult(f"time_unit of {name} is {unit!r}; allowed: us")
