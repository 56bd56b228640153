# SPDX-License-Identifier: MIT
"""Checks the entries of a result file before they are used."""

import math
from typing import Any

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


class NotAResult(ValueError):
    """The file is no result of trainbench. The message says why, in one line."""


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


def shown(value: object) -> str:
    """The value for an error message, in one line of bounded length."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of too many digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_number(value: object) -> bool:
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


def check_entry(entry: dict[str, Any], is_timed: bool) -> None:
    """Checks a measured row, whose time is 0 if it is not timed. Errors: NotAResult."""
    name = word_of(entry, "name")
    for key, value in entry.items():
        if key in _WORDS:
            word_of(entry, key)
        elif key in _FLAGS:
            continue
        elif key in _OBJECTS:
            _check_object(name, key, value)
        elif not is_number(value):  # 1e999 is JSON, and infinite
            raise NotAResult(
                f"{key} of {name} is {shown(value)}; allowed: finite numbers"
            )
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
