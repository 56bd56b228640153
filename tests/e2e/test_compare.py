# SPDX-License-Identifier: MIT
"""Our files in tools/compare, and in Google Benchmark's own compare.py.

The expected output is from the script of version 1.7.1 (Debian 12); later versions read
the same fields.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from program import NANO, Program, load, measured, names
from reports.compare.main import main

STOCK = Path("/usr/share/benchmark/compare.py")


@pytest.fixture(scope="module")
def two_runs(shared: Program) -> Program:
    """Two results with two repetitions each: old.json and new.json."""
    cases = "^(model_size|optimizer|harness|ddp/flat)/"
    for file in ("old.json", "new.json"):
        shared.run(
            *(*NANO, "--benchmark_repetitions=2", f"--benchmark_filter={cases}"),
            f"--benchmark_out={file}",
        )
    return shared


def test_tools_compare_finds_one_program_to_be_itself(
    two_runs: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = [str(two_runs.directory / file) for file in ("old.json", "new.json")]
    assert main(pair) == 0
    out = capsys.readouterr().out
    cases = set(names(measured(load(two_runs.directory / "old.json"))))
    assert len(cases) > 5
    for case in cases:
        assert any(line.startswith(case) for line in out.splitlines())
    assert f"0 EQUIVALENT, {len(cases)} INCONCLUSIVE" in out
    assert main([*pair, "--json"]) == 0
    # The exact metrics of both runs are equal.
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["changes"] for row in rows] == [[]] * len(cases)


def compared(program: Program, old: str, new: str, *flags: str) -> dict[str, int]:
    """Returns how many lines Google Benchmark's script prints for each case."""
    if not STOCK.exists():
        pytest.skip(f"{STOCK} is missing (package libbenchmark-tools)")
    folder = str(program.directory)  # keeps a binary's output after a failure
    printed = subprocess.check_output(
        [sys.executable, STOCK, "--no-color", "benchmarks", old, new, *flags],
        cwd=folder,
        env=program.environment({"TMPDIR": folder}),
        text=True,
    )
    lines = [line.split() for line in printed.splitlines()]
    # Name, changes of time and CPU time, then old and new values of both.
    rows = [words for words in lines if len(words) == 7 and words[1][0] in "+-"]
    return Counter(words[0] for words in rows)


def test_compare_py_prints_every_row(two_runs: Program) -> None:
    rows = load(two_runs.directory / "old.json")["benchmarks"]
    found = compared(two_runs, "old.json", "new.json")
    assert Counter(names(rows)).items() <= found.items()
    assert found["OVERALL_GEOMEAN"] == 1


def test_the_program_itself_may_stand_for_a_file(trainbench: Program) -> None:
    path, *flags = trainbench.command(*NANO, "--benchmark_filter=^optimizer/")
    rows = {"optimizer/textbook/nano": 1, "optimizer/fused/nano": 1}
    assert rows.items() <= compared(trainbench, path, path, *flags).items()
