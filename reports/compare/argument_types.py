# SPDX-License-Identifier: MIT
"""Types of command-line arguments."""

import argparse
import math
from collections.abc import Callable


def number(least: float, most: float, whole: bool = False) -> Callable[[str], float]:
    """Errors: ArgumentTypeError, with the value and what is allowed. A whole number may
    be written as 1e9."""
    kind = "a whole number" if whole else "a number"

    def read(value: str) -> float:
        try:
            found = float(value)
        except ValueError:
            found = math.nan
        if not least <= found <= most or (whole and found != int(found)):
            raise argparse.ArgumentTypeError(
                f"it is {value!r}; allowed: {kind}, {least:.13g} to {most:.13g}"
            )
        return int(found) if whole else found

    return read


def percentage(low: float, high: float) -> Callable[[str], float]:
    """An argparse type: a percentage in the open interval, as a fraction."""

    def parse(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = low - 1
        if not low < number < high:
            raise argparse.ArgumentTypeError(
                f"it is {value!r}; allowed: a percentage between {low:g} and {high:g}"
            )
        return number / 100

    return parse
