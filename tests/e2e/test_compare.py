# SPDX-License-Identifier: MIT
"""Our files in tools/compare, and in Google Benchmark's own compare.py.

The expected output is from the script of version 1.7.1 (Debian 12); later versions read
the same fields.
"""

import json
from collections import Counter

import pytest

from program import NANO, Program, load, measured, names
from reports.compare.__main__ import main
from stock_compare import Compared, compare

TEXTBOOK, FUSED = "optimizer/textbook", "optimizer/fused"
VERSUS = "[optimizer/textbook vs. optimizer/fused]/nano"


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


def rows_of(compared: Compared) -> list[str]:
    return [row["name"] for row in compared.report]


def test_benchmarks_prints_every_row(two_runs: Program) -> None:
    compared = compare(two_runs, "benchmarks", "old.json", "new.json")
    assert compared.code == 0
    rows = load(two_runs.directory / "old.json")["benchmarks"]
    for name, count in Counter(names(rows)).items():
        lines = compared.lines(name)
        assert len(lines) == count
        # Name, changes of time and CPU time, then old and new values of both.
        assert all(len(words) == 7 for words in lines)
    assert compared.out.splitlines()[-1].startswith("OVERALL_GEOMEAN ")


def test_filters_compares_two_families_of_one_file(two_runs: Program) -> None:
    compared = compare(two_runs, "filters", "old.json", TEXTBOOK, FUSED)
    assert compared.code == 0
    assert len(compared.lines(VERSUS)) == 2  # repetitions
    rows = measured(load(two_runs.directory / "old.json"))
    old, new = (
        [row["real_time"] for row in rows if row["name"] == f"{family}/nano"]
        for family in (TEXTBOOK, FUSED)
    )
    found = compared.report[rows_of(compared).index(VERSUS)]["measurements"]
    assert [m["real_time"] for m in found] == old
    assert [m["real_time_other"] for m in found] == new


def test_the_program_itself_may_stand_for_a_file(trainbench: Program) -> None:
    path, *flags = trainbench.command(*NANO, "--benchmark_filter=^optimizer/")
    compared = compare(trainbench, "benchmarks", path, path, *flags)
    assert compared.code == 0
    assert rows_of(compared) == [f"{TEXTBOOK}/nano", f"{FUSED}/nano", "OVERALL_GEOMEAN"]
