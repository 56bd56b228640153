# SPDX-License-Identifier: MIT
"""Reads the output of a stage; missing output is empty.

This has its own reader of results: a GPU machine may have only Python and torch.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

Json = dict[str, Any]


@dataclass(frozen=True)
class Result:
    context: Json = field(default_factory=dict)
    rows: list[Json] = field(default_factory=list)
    skipped: list[Json] = field(default_factory=list)
    errors: list[Json] = field(default_factory=list)
    complete: bool = False
    kernels: list[Json] = field(default_factory=list)  # of all profiles

    def of(self, pattern: str) -> list[Json]:
        """The rows with names that begin with the pattern."""
        return [row for row in self.rows if re.match(pattern, row["name"])]

    @property
    def times(self) -> dict[str, float]:
        """Times in us, by row; a null GPU has none."""
        return {
            row["name"]: row["p50_us"] for row in self.rows if row.get("p50_us", 0) > 0
        }


def result(path: Path) -> Result:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return Result(
            document["context"],
            [r for r in document["benchmarks"] if r["run_type"] == "iteration"],
            document["skipped"],
            document["errors"],
            document["complete"],
            [k for profile in document.get("profiles", []) for k in profile["kernels"]],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return Result()


@dataclass(frozen=True)
class Tests:
    program: str
    passed: int
    failed: list[str]  # their names
    skipped: int


def tests(path: Path) -> Tests | None:
    """Reads GoogleTest's report; None if the program ended without one."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return None
    ran = [one for one in root.iter("testcase") if one.get("status") == "run"]
    failed = [one for one in ran if one.find("failure") is not None]
    skipped = [one for one in ran if one.find("skipped") is not None]
    return Tests(
        path.stem,
        len(ran) - len(failed) - len(skipped),
        [f"{one.get('classname')}.{one.get('name')}" for one in failed],
        len(skipped),
    )


@dataclass(frozen=True)
class Seen:
    """What a stage has left so far."""

    out: Path  # its folder
    steps: list[Json]  # as state.py keeps them

    def result(self, name: str) -> Result:
        return result(self.out / f"{name}.json")

    def results(self) -> list[Result]:
        found = [result(path) for path in sorted(self.out.glob("*.json"))]
        return [one for one in found if one.context]

    def tests(self) -> Iterator[Tests]:
        for path in sorted(self.out.glob("*.xml")):
            if (found := tests(path)) is not None:
                yield found

    def log(self) -> str:
        try:
            return (self.out / "log.txt").read_text(errors="replace")
        except OSError:
            return ""
