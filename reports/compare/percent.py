# SPDX-License-Identifier: MIT
"""Percentages on a command line."""

import argparse
from collections.abc import Callable


def percent(low: float, high: float) -> Callable[[str], float]:
    """A type for argparse: a percentage between these, as a fraction."""

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
