# SPDX-License-Identifier: MIT
"""Comparatives and superlatives, as far as the intervals allow them."""

from collections.abc import Mapping

from reports.answers.measured import CANNOT_TELL, Measured, exceeds
from reports.results import text


def factor(ratio: Measured, what: str) -> str:
    """E.g. "1.2 (1.1 to 1.3) times the time"; noise makes no factor."""
    if ratio.is_clear or ratio.low == ratio.high:
        return f"{ratio.text()} times {what}"
    told = ratio.text() if ratio.is_known else text.significant(ratio.value)
    unclear = f"more or less {CANNOT_TELL}: {ratio.runs_to_tell(1)}"
    return f"{told} times {what} ({unclear})"


def least(named: Mapping[str, Measured]) -> tuple[str, list[str]]:
    """The name of the least value, and those that are not known to be more: of rows
    that took turns another can be less than the one with the least median."""
    first = min(named, key=lambda name: named[name].value)
    others = [name for name in named if name != first]
    return first, [name for name in others if not exceeds(named[name], named[first])]


def listed(names: list[str]) -> str:
    """E.g. "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
