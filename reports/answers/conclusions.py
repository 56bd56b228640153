# SPDX-License-Identifier: MIT
"""The conclusions that intervals support: comparatives, superlatives, growth."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import mul

import numpy as np

from reports.answers.measured import Measured, exactly, total, unknown
from reports.results import text

CANNOT_TELL = "cannot be told from this run"


def differ(one: Measured, other: Measured) -> bool:
    """Returns whether the intervals show that the values differ."""
    return (one / other).is_clear


def exceeds(one: Measured, other: Measured) -> bool:
    """Returns whether the intervals show that `one` is more than `other`."""
    ratio = one / other
    return ratio.is_fair and ratio.low > 1


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


def exponent(points: Sequence[tuple[float, Measured]]) -> Measured | None:
    """Fits the exponent of the growth, with an interval derived from the points'.

    By least squares, it is a weighted sum of the points' logarithms. Points that are
    not above 0 are left out; None if fewer than two different places remain.
    """
    known = [(at, value) for at, value in points if at > 0 and value.value > 0]
    places, values = [at for at, _ in known], [value for _, value in known]
    if len(set(places)) < 2:
        return None
    offsets = np.log(places) - np.log(places).mean()
    weights = (offsets / (offsets @ offsets)).tolist()
    logs = [math.log(value.value) for value in values]
    fitted = sum(map(mul, weights, logs))
    sources = total(values).sources
    if all(value.low == value.high for value in values):
        return exactly(fitted)
    if not all(value.is_known and value.low > 0 for value in values):
        return unknown(fitted, sources)
    terms = [
        Measured(log, math.log(value.low), math.log(value.high)) * weight
        for log, value, weight in zip(logs, values, weights, strict=True)
    ]
    return replace(total(terms), sources=sources)
