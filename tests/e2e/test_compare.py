# SPDX-License-Identifier: MIT
"""Google Benchmark's own compare.py reads our files, in each of its modes.

The expected output is from the script of version 1.7.1 (Debian 12); later versions read
the same fields.
"""

import json
import re
from collections import Counter
from statistics import geometric_mean
from typing import Any

import pytest

from program import (
    NANO,
    NANO_FORWARD_NAME,
    Json,
    Program,
    binary,
    load,
    measured,
    names,
    without,
)
from stock_compare import Compared, compare
from too_large import FORWARD_AND_HARNESS, HUGE

TEXTBOOK, FUSED = "optimizer/textbook", "optimizer/fused"
VERSUS = "[optimizer/textbook vs. optimizer/fused]/nano"
FAULTS = ("--warmup=1", "--benchmark_min_time=0.001")
FRAGILE = "fault/throw_in_second_build"


def run(program: Program, file: str, *flags: str, code: int = 0) -> Json:
    done = program.run(*flags, f"--benchmark_out={file}")
    assert done.code == code, done.err
    return load(program.directory / file)


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Two results with two repetitions each: old.json and new.json."""
    program = Program(binary("TRAINBENCH_BINARY"), tmp_path_factory.mktemp("compare"))
    flags = (*NANO, "--benchmark_repetitions=2")
    cases = "^(model_size|optimizer|harness|ddp/flat)/"
    for file in ("old.json", "new.json"):
        run(program, file, *flags, f"--benchmark_filter={cases}")
    return program


@pytest.fixture(scope="module")
def compared(two_runs: Program) -> Compared:
    return compare(two_runs, "benchmarks", "old.json", "new.json")


def test_benchmarks_prints_every_row(two_runs: Program, compared: Compared) -> None:
    assert compared.code == 0
    rows = load(two_runs.directory / "old.json")["benchmarks"]
    for name, count in Counter(names(rows)).items():
        lines = compared.lines(name)
        assert len(lines) == count
        # Name, changes of time and CPU time, then old and new values of both.
        assert all(len(words) == 7 for words in lines)
    assert compared.out.splitlines()[-1].startswith("OVERALL_GEOMEAN ")


def test_from_two_repetitions_on_there_is_a_u_test(
    two_runs: Program, compared: Compared
) -> None:
    cases = set(names(measured(load(two_runs.directory / "old.json"))))
    for case in cases:
        (words,) = compared.lines(f"{case}_pvalue")
        assert " ".join(words[3:]) == (
            "U Test, Repetitions: 2 vs 2. WARNING: Results unreliable! "
            "9+ repetitions recommended."
        )


def test_the_aggregates_alone(two_runs: Program) -> None:
    compared = compare(two_runs, "benchmarks", "old.json", "new.json", option="-a")
    assert compared.lines(NANO_FORWARD_NAME) == []
    for aggregate in ("mean", "median", "stddev", "cv"):
        assert len(compared.lines(f"{NANO_FORWARD_NAME}_{aggregate}")) == 1


def test_filters_compares_two_families_of_one_file(two_runs: Program) -> None:
    compared = compare(two_runs, "filters", "old.json", TEXTBOOK, FUSED)
    assert compared.code == 0
    assert len(compared.lines(VERSUS)) == 2  # repetitions
    rows = measured(load(two_runs.directory / "old.json"))
    old, new = (
        [row["real_time"] for row in rows if row["name"] == f"{family}/nano"]
        for family in (TEXTBOOK, FUSED)
    )
    found = compared.report[compared.rows().index(VERSUS)]["measurements"]
    assert [m["real_time"] for m in found] == old
    assert [m["real_time_other"] for m in found] == new


def test_benchmarksfiltered_compares_a_family_of_each_file(two_runs: Program) -> None:
    compared = compare(
        two_runs, "benchmarksfiltered", "old.json", TEXTBOOK, "new.json", FUSED
    )
    assert compared.code == 0
    new = [
        row["real_time"]
        for row in measured(load(two_runs.directory / "new.json"))
        if row["name"] == f"{FUSED}/nano"
    ]
    found = compared.report[compared.rows().index(VERSUS)]["measurements"]
    assert [m["real_time_other"] for m in found] == new


def test_a_filter_that_matches_nothing_is_no_error_there(two_runs: Program) -> None:
    compared = compare(two_runs, "filters", "old.json", TEXTBOOK, "nonsense")
    assert (compared.code, compared.report) == (0, [])


@pytest.mark.parametrize(
    ("mode", "files"),
    [
        ("filters", ["{program}", TEXTBOOK, FUSED]),
        ("benchmarksfiltered", ["{program}", TEXTBOOK, "old.json", FUSED]),
        ("benchmarksfiltered", ["old.json", TEXTBOOK, "{program}", FUSED]),
    ],
)
def test_the_program_itself_may_stand_for_a_file(
    two_runs: Program, mode: str, files: list[str]
) -> None:
    path, *flags = two_runs.command(*NANO)
    inputs = [file.format(program=path) for file in files]
    compared = compare(two_runs, mode, *inputs, *flags)
    assert compared.code == 0
    assert VERSUS in compared.rows()
    # It was run with its side's filter and read from a temporary file.
    runs = [line for line in compared.out.splitlines() if line.startswith("RUNNING: ")]
    assert len(runs) == (2 if mode == "filters" else 1)
    assert all("--benchmark_filter=optimizer/" in line for line in runs)
    assert not list(two_runs.directory.glob("tmp*"))


def test_benchmarks_runs_the_program_with_the_given_filter(trainbench: Program) -> None:
    path, *flags = trainbench.command(*NANO, "--benchmark_filter=^optimizer/")
    compared = compare(trainbench, "benchmarks", path, path, *flags)
    assert compared.code == 0
    cases = ["optimizer/textbook/nano", "optimizer/fused/nano"]
    assert compared.rows() == [*cases, "OVERALL_GEOMEAN"]


def assert_a_lost_row_is_no_speed_up(program: Program, lost: str) -> None:
    """The row was measured in old.json and has no time in new.json."""
    for pair in (("old.json", "new.json"), ("new.json", "old.json")):
        compared = compare(program, "benchmarks", *pair)
        assert lost not in compared.out
        assert "-1.0000" not in compared.out
        assert all(change > -1 for change in compared.changes())
        # The other rows are compared.
        kept = set(names(measured(load(program.directory / "new.json"))))
        assert kept and kept < set(compared.rows())
        assert compared.code == 0
        assert_the_mean_is_over_all_rows_of_each_side(program, compared, pair)


def assert_the_mean_is_over_all_rows_of_each_side(
    program: Program, compared: Compared, pair: tuple[str, str]
) -> None:
    """Independent of the file: a lost row counts on the side that has it."""
    (mean,) = compared.report[-1]["measurements"]
    for field, file in zip(("real_time", "real_time_other"), pair, strict=True):
        rows = measured(load(program.directory / file))
        expected = geometric_mean([row["real_time"] * 1e-6 for row in rows])
        assert mean[field] == pytest.approx(expected)


def test_a_skip_on_one_side_is_no_speed_up(trainbench: Program) -> None:
    run(trainbench, "old.json", *NANO, FORWARD_AND_HARNESS)
    flags = (*without(NANO, "--model"), HUGE, FORWARD_AND_HARNESS)
    skipped = run(trainbench, "new.json", *flags)["skipped"]
    assert names(skipped) == [NANO_FORWARD_NAME]
    assert_a_lost_row_is_no_speed_up(trainbench, NANO_FORWARD_NAME)


def test_an_error_on_one_side_is_no_speed_up(faults: Program) -> None:
    flags = (*FAULTS, "--benchmark_filter=/(good|throw_in_second_build)")
    assert FRAGILE in names(run(faults, "old.json", *flags)["benchmarks"])
    repeated = (*flags, "--benchmark_repetitions=2")
    assert FRAGILE in names(run(faults, "new.json", *repeated, code=1)["errors"])
    assert_a_lost_row_is_no_speed_up(faults, FRAGILE)


def test_an_error_of_the_program_itself_ends_the_comparison(faults: Program) -> None:
    path, *flags = faults.command(*FAULTS, "--benchmark_filter=/(good|throw_in_build)")
    compared = compare(faults, "benchmarks", path, path, *flags)
    assert compared.code == 1
    assert "TEST FAILED" in compared.out
    assert compared.report == []


def changed(document: Json, key: str, value: Any) -> Json:
    """Changes `key` of the context, and doubles all counters."""
    context = document["context"] | {key: value}
    times = {"real_time", "cpu_time", "iterations", "repetitions", "threads"}
    rows = [
        {
            k: 2 * v if isinstance(v, float) and k not in times else v
            for k, v in row.items()
        }
        for row in document["benchmarks"]
    ]
    return document | {"context": context, "benchmarks": rows}


def test_counters_and_the_machine_are_not_looked_at(two_runs: Program) -> None:
    old = load(two_runs.directory / "old.json")
    other = changed(old, "device", "another device")
    rows = measured(other)
    assert rows[0]["peak_bytes"] == 2 * measured(old)[0]["peak_bytes"]
    (two_runs.directory / "other.json").write_text(json.dumps(other))
    compared = compare(two_runs, "benchmarks", "old.json", "other.json")
    assert compared.code == 0
    assert set(compared.changes()) == {0.0}
    assert not re.search("device|peak_bytes", compared.out)
