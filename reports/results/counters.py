# SPDX-License-Identifier: MIT
"""Descriptions of a row's counters: unit, kind, and which direction is better.

A result has them in its list `counters`. fixtures/counters.md defines the words, and
supplies the descriptions for results that lack the list.
"""

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path

from reports.results.records import NotAResult, shown

PATH = Path(__file__).resolve().parents[2] / "fixtures/counters.md"
KINDS = ("time", "part", "rate", "ratio", "exact", "count", "value")
DIRECTIONS = ("lower", "higher", "same", "")
_BETTER = re.compile(r"(\w*)(?:, ([0-9.]+) %)?")


@dataclass(frozen=True)
class Counter:
    name: str  # a pattern if it contains a *
    unit: str = ""  # e.g. us, B, FLOP/s; "" for a plain number
    kind: str = "value"
    better: str = ""  # one of DIRECTIONS
    tolerance: float = 0  # relative; differences within it count as equal

    @property
    def is_compared(self) -> bool:
        """Whether a difference means that two programs do different work."""
        return self.kind == "exact" and self.better != ""

    @property
    def is_amount(self) -> bool:
        """Whether it is never below 0."""
        is_signed = self.unit.startswith("±")
        return not is_signed and (self.unit != "" or self.kind in ("exact", "count"))


@dataclass(frozen=True)
class CounterTable:
    """Finds counters: a name precedes a pattern, an earlier pattern a later one."""

    counters: tuple[Counter, ...]

    @cached_property
    def _found(self) -> dict[str, Counter]:
        return {counter.name: counter for counter in reversed(self.counters)}

    def find(self, name: str) -> Counter:
        """Describes a counter; an unknown name is a value without a unit."""
        if name not in self._found:
            matches = (one for one in self.counters if fnmatchcase(name, one.name))
            self._found[name] = next(matches, Counter(name))
        return self._found[name]


def _counter(name: str, unit: str, kind: str, better: str) -> Counter:
    match = _BETTER.fullmatch(better)
    if kind not in KINDS or match is None or match[1] not in DIRECTIONS:
        raise NotAResult(
            f"the counter {shown(name)} has kind {shown(kind)} and better "
            f"{shown(better)}; allowed: {', '.join(KINDS)}; lower, higher, same"
        )
    return Counter(name, unit, kind, match[1], float(match[2] or 0) / 100)


@dataclass(frozen=True)
class Listed:
    """A counter as a result's list describes it."""

    counter: str
    unit: str
    kind: str
    better: str


def counter_table(listed: Sequence[Listed]) -> CounterTable:
    """Makes a table from a result's list. Errors: NotAResult."""
    return CounterTable(tuple(_counter(*astuple(entry)) for entry in listed))


@cache
def default_table() -> CounterTable:
    text = PATH.read_text(encoding="utf-8")
    _, _, lines = text.partition("\n|---|---|---|---|---|\n")
    rows = [line.removeprefix("| ").split(" | ") for line in lines.splitlines()]
    return CounterTable(
        tuple(
            _counter(name.strip("`"), *cells[:3])
            for names, *cells in rows
            for name in names.split(", ")
        )
    )
