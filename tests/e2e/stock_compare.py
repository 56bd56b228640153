# SPDX-License-Identifier: MIT
"""Runs Google Benchmark's own compare.py."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from program import Json, Program


@dataclass(frozen=True)
class Compared:
    code: int
    out: str
    report: list[Json]  # what --dump_to_json holds

    def lines(self, name: str) -> list[list[str]]:
        words = [line.split() for line in self.out.splitlines() if line]
        # A filter in brackets has blanks of its own.
        size = len(name.split())
        return [found for found in words if found[:size] == name.split()]

    def rows(self) -> list[str]:
        return [row["name"] for row in self.report]

    def changes(self) -> list[float]:
        found = [m for row in self.report for m in row["measurements"]]
        return [change for m in found for change in (m["time"], m["cpu"])]


def compare_script() -> Path:
    found = Path("/usr/share/benchmark/compare.py")
    if not found.exists():
        pytest.skip("compare.py is missing (package libbenchmark-tools)")
    for module in ("numpy", "scipy"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"compare.py needs the Python package {module}")
    return found


def compare(program: Program, *arguments: str | Path, option: str = "") -> Compared:
    options = ["--no-color", "--dump_to_json=report.json", *option.split()]
    report = program.directory / "report.json"
    report.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, compare_script(), *options, *arguments],
        cwd=program.directory,
        # Where it keeps what a binary writes, and leaves it if that fails.
        env=program.environment({"TMPDIR": str(program.directory)}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    written = json.loads(report.read_text()) if report.exists() else []
    assert "Traceback" not in done.stderr, done.stderr
    return Compared(done.returncode, done.stdout, written)
