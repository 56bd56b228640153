# SPDX-License-Identifier: MIT
"""Comparatives and superlatives, as far as the intervals support them."""

from collections.abc import Mapping

from reports.answers.measured import CANNOT_TELL, Measured, exceeds
from reports.results import text


def factor(ratio: Measured, what: str) -> str:
    """States a factor, e.g. "1.2 (1.1 to 1.3) times the time", or that it is noise."""
    if ratio.is_clear or ratio.low == ratio.high:
        return f"{ratio.text()} times {what}"
    told = ratio.text() if ratio.is_known else text.significant(ratio.value)
    unclear = f"more or less {CANNOT_TELL}: {ratio.runs_to_tell(1)}"
    return f"{told} times {what} ({unclear})"


def least(named: Mapping[str, Measured]) -> tuple[str, list[str]]:
    """Returns the name of the smallest value, and the names that are not known to
    exceed it: for rows in turns, one may be smaller despite its larger median."""
    first = min(named, key=lambda name: named[name].value)
    others = [name for name in named if name != first]
    return first, [name for name in others if not exceeds(named[name], named[first])]


def listed(names: list[str]) -> str:
    """Joins names, e.g. "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
