# SPDX-License-Identifier: MIT
"""Google Benchmark's own compare.py reads our files."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from program import NANO, Program, load, names


def compare_script() -> Path:
    found = Path("/usr/share/benchmark/compare.py")
    if not found.exists():
        pytest.skip("compare.py is missing (package libbenchmark-tools)")
    for module in ("numpy", "scipy"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"compare.py needs the Python package {module}")
    return found


def test_compare_prints_every_row(trainbench: Program) -> None:
    script = compare_script()
    for file in ("old.json", "new.json"):
        done = trainbench.run(
            *NANO,
            "--benchmark_filter=^(model_size|precision|optimizer|harness|ddp)/",
            "--benchmark_repetitions=2",
            f"--benchmark_out={file}",
        )
        assert done.code == 0
    compared = subprocess.run(
        [sys.executable, script, "--no-color", "benchmarks", "old.json", "new.json"],
        cwd=trainbench.directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert compared.returncode == 0, compared.stderr
    printed = [line.split() for line in compared.stdout.splitlines() if line]
    rows = load(trainbench.directory / "old.json")["benchmarks"]
    for row in rows:
        lines = [words for words in printed if words[0] == row["name"]]
        assert len(lines) == names(rows).count(row["name"])
        # name, change of time and of CPU time, then old and new of both.
        assert all(len(words) == 7 for words in lines)
    assert printed[-1][0] == "OVERALL_GEOMEAN"
