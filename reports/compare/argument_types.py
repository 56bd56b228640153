# SPDX-License-Identifier: MIT
"""Types of command-line arguments.

Errors: ArgumentTypeError, with the value and what is allowed.
"""

import argparse
import math
import re
from collections.abc import Callable, Collection


def _read(value: str, is_allowed: Callable[[float], bool], allowed: str) -> float:
    try:
        found = float(value)
    except ValueError:
        found = math.nan
    if not math.isnan(found) and is_allowed(found):
        return found
    raise argparse.ArgumentTypeError(f"it is {value!r}; allowed: {allowed}")


def number(least: float, most: float, whole: bool = False) -> Callable[[str], float]:
    """Returns a type for numbers in a range; a whole number may be written as 1e9."""
    kind, digits = ("a whole number", ".0f") if whole else ("a number", ".13g")
    allowed = f"{kind}, {least:{digits}} to {most:{digits}}"

    def is_allowed(found: float) -> bool:
        return least <= found <= most and not (whole and found != int(found))

    def read(value: str) -> float:
        found = _read(value, is_allowed, allowed)
        return int(found) if whole else found

    return read


def percentage(low: float, high: float) -> Callable[[str], float]:
    """Returns a type for percentages in the open interval; its values are fractions."""
    allowed = f"a percentage between {low:g} and {high:g}"
    return lambda value: _read(value, lambda found: low < found < high, allowed) / 100


def share(value: str) -> float:
    return _read(value, lambda found: 0 < found < 1, "above 0, below 1")


def pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise argparse.ArgumentTypeError(
            f"it is {value!r}; allowed: a regular expression ({error})"
        ) from error
    return value


def several(allowed: Collection[str]) -> Callable[[str], list[str]]:
    """Returns a type for some of these values, separated by commas."""

    def read(value: str) -> list[str]:
        found = value.split(",")
        if not set(found) <= set(allowed):
            choices = ", ".join(allowed)
            raise argparse.ArgumentTypeError(f"it is {value!r}; allowed: {choices}")
        return found

    return read
