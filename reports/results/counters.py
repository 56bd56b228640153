# SPDX-License-Identifier: MIT
"""Descriptions of a row's counters: unit, kind, and which direction is better.

A result has them in its list `counters`. fixtures/counters.md defines the words, and
supplies the descriptions for results that lack the list.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from reports.results.records import record

PATH = Path(__file__).resolve().parents[2] / "fixtures/counters.md"
Kind = Literal["time", "part", "rate", "ratio", "exact", "count", "value"]
_BETTER = r"^(lower|higher|same)?(, [0-9]+([.][0-9]+)? %)?$"


@dataclass(frozen=True)
class Counter:
    name: str  # a pattern if it contains a *
    unit: str = ""  # e.g. us, B, FLOP/s; "" for a plain number
    kind: Kind = "value"
    better: str = ""  # lower, higher or same
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

    @property
    def compared(self) -> list[str]:
        """The names and patterns of the counters that are compared."""
        return [counter.name for counter in self.counters if counter.is_compared]


@dataclass(frozen=True)
class Listed:
    """A counter as a result's list describes it."""

    counter: str
    unit: str
    kind: Kind
    better: Annotated[str, msgspec.Meta(pattern=_BETTER)]  # and the tolerance


def counter_table(listed: Sequence[Listed]) -> CounterTable:
    """Makes a table from a result's list."""

    def described(one: Listed) -> Counter:
        better, _, tolerance = one.better.partition(", ")
        relative = float(tolerance.removesuffix(" %") or 0) / 100
        return Counter(one.counter, one.unit, one.kind, better, relative)

    return CounterTable(tuple(map(described, listed)))


@cache
def default_table() -> CounterTable:
    text = PATH.read_text(encoding="utf-8")
    _, _, lines = text.partition("\n|---|---|---|---|---|\n")
    rows = [line.removeprefix("| ").split(" | ", 4) for line in lines.splitlines()]
    listed = [
        {"counter": name.strip("`"), "unit": unit, "kind": kind, "better": better}
        for names, unit, kind, better, _ in rows
        for name in names.split(", ")
    ]
    return counter_table(record(listed, list[Listed]))
