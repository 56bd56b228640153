# SPDX-License-Identifier: MIT
"""Descriptions of a row's counters: unit, kind, and which direction is better.

A result has them in its list `counters`. fixtures/counters.md defines the words, and
supplies the descriptions for results that lack the list.
"""

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
    """A counter as a result's list describes it."""

    counter: str  # its name; a pattern if it contains a *
    unit: str  # e.g. us, B, FLOP/s; "" for a plain number
    kind: Kind
    better: Annotated[str, msgspec.Meta(pattern=_BETTER)]  # "lower, 5 %"; "": neither

    @property
    def direction(self) -> str:
        return self.better.partition(", ")[0]

    @property
    def tolerance(self) -> float:
        """Relative; differences within it count as equal."""
        return float(self.better.partition(", ")[2].removesuffix(" %") or 0) / 100

    @property
    def is_compared(self) -> bool:
        """Whether a difference means that two programs do different work."""
        return self.kind == "exact" and self.direction != ""

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
        return {one.counter: one for one in reversed(self.counters)}

    def find(self, name: str) -> Counter:
        """Describes a counter; an unknown name is a value without a unit."""
        if name not in self._found:
            matches = (one for one in self.counters if fnmatchcase(name, one.counter))
            self._found[name] = next(matches, Counter(name, "", "value", ""))
        return self._found[name]

    @property
    def compared(self) -> list[str]:
        """The names and patterns of the counters that are compared."""
        return [one.counter for one in self.counters if one.is_compared]


@cache
def default_table() -> CounterTable:
    lines = PATH.read_text("utf-8").partition("\n|---|---|---|---|---|\n")[2]
    rows = [line.removeprefix("| ").split(" | ", 4) for line in lines.splitlines()]
    listed = [
        {"counter": name.strip("`"), "unit": unit, "kind": kind, "better": better}
        for names, unit, kind, better, _ in rows
        for name in names.split(", ")
    ]
    return CounterTable(record(listed, tuple[Counter, ...]))
