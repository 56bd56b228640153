# SPDX-License-Identifier: MIT
"""Types of command-line arguments."""

import argparse
from collections.abc import Callable


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
