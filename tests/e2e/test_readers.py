# SPDX-License-Identifier: MIT
"""Two services for benchmark histories read our files (see readers.py)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from program import (
    NANO,
    NANO_FORWARD,
    NANO_FORWARD_NAME,
    Json,
    Program,
    binary,
    measured,
    names,
    without,
)
from readers import READERS, Reader, Refused, bencher, github_action
from too_large import FORWARD_AND_HARNESS, HUGE

ROOT = Path(__file__).resolve().parents[2]
REFERENCES = [
    table.with_suffix(".json")
    for table in sorted(ROOT.glob("reports/reference/*/full.txt"))
]


def written(program: Program, *flags: str, code: int = 0) -> str:
    done = program.run(*flags, "--benchmark_out=a.json")
    assert done.code == code, done.err
    return (program.directory / "a.json").read_text()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One row of each kind of workload."""
    program = Program(binary("TRAINBENCH_BINARY"), tmp_path_factory.mktemp("readers"))
    cases = "^(model_size|optimizer|harness|ddp/flat|accumulation|norm_precision)/"
    return written(program, *NANO, f"--benchmark_filter={cases}")


def test_each_case_is_one_entry_with_its_median(plain: str) -> None:
    rows = json.loads(plain)["benchmarks"]
    assert len(set(names(rows))) == len(rows) > 5
    benches = github_action(plain)
    assert [(b.name, b.value, b.unit) for b in benches] == [
        (row["name"], row["real_time"], "us/iter") for row in rows
    ]
    assert {b.extra.splitlines()[0] for b in benches} == {"iterations: 1"}
    latencies = bencher(plain)
    assert list(latencies) == names(rows)
    for row in rows:
        assert latencies[row["name"]] == pytest.approx(1e3 * row["real_time"])
        if "p50_us" in row:
            assert latencies[row["name"]] == pytest.approx(1e3 * row["p50_us"])


@pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
def test_every_unit_is_understood(trainbench: Program, unit: str) -> None:
    text = written(trainbench, *NANO_FORWARD, f"--benchmark_time_unit={unit}")
    (row,) = json.loads(text)["benchmarks"]
    assert bencher(text)[row["name"]] == pytest.approx(1e3 * row["p50_us"])
    (bench,) = github_action(text)
    assert (bench.value, bench.unit) == (row["real_time"], f"{row['time_unit']}/iter")


def test_repetitions_and_aggregates_are_entries_of_their_own(
    trainbench: Program,
) -> None:
    text = written(trainbench, *NANO_FORWARD, "--benchmark_repetitions=3")
    runs = measured(json.loads(text))
    summary = [f"{NANO_FORWARD_NAME}_{a}" for a in ("mean", "median", "stddev", "cv")]
    # The action keeps all, and later uses the first of a name; Bencher uses the last.
    found = [bench.name for bench in github_action(text)]
    assert found == [NANO_FORWARD_NAME] * 3 + summary
    latencies = bencher(text)
    assert list(latencies) == [NANO_FORWARD_NAME, *summary]
    assert latencies[NANO_FORWARD_NAME] == pytest.approx(1e3 * runs[-1]["real_time"])


def test_the_aggregates_alone(trainbench: Program) -> None:
    flags = ("--benchmark_repetitions=2", "--benchmark_report_aggregates_only")
    text = written(trainbench, *NANO_FORWARD, *flags)
    assert f"{NANO_FORWARD_NAME}_median" in bencher(text)
    assert NANO_FORWARD_NAME not in bencher(text)
    assert len(github_action(text)) == 4


def test_a_skipped_case_has_no_entry(trainbench: Program) -> None:
    flags = (*without(NANO, "--model"), HUGE, FORWARD_AND_HARNESS)
    text = written(trainbench, *flags)
    assert names(json.loads(text)["skipped"]) == [NANO_FORWARD_NAME]
    kept = names(json.loads(text)["benchmarks"])
    assert kept and NANO_FORWARD_NAME not in kept
    assert [bench.name for bench in github_action(text)] == kept
    assert list(bencher(text)) == kept


def test_a_failed_case_has_no_entry(faults: Program) -> None:
    flags = ("--warmup=1", "--benchmark_min_time=0.001")
    text = written(faults, *flags, "--benchmark_filter=/(good|throw_in_run)", code=1)
    good = ["fault/good/n:0", "fault/good/n:1"]
    assert names(json.loads(text)["errors"]) == ["fault/throw_in_run"]
    assert [bench.name for bench in github_action(text)] == good
    assert list(bencher(text)) == good


@pytest.mark.parametrize("reader", READERS)
def test_a_run_without_a_single_row_is_refused(
    trainbench: Program, reader: Reader
) -> None:
    text = written(trainbench, *without(NANO_FORWARD, "--model"), HUGE)
    with pytest.raises(Refused, match="no benchmark"):
        reader(text)


def test_what_is_printed_is_the_document_alone(trainbench: Program) -> None:
    """Bencher reads the standard output of a command."""
    done = trainbench.run(*NANO_FORWARD, "--benchmark_format=json")
    assert done.code == 0, done.err
    assert list(bencher(done.out)) == [NANO_FORWARD_NAME]
    assert len(github_action(done.out)) == 1


@pytest.mark.parametrize("file", REFERENCES, ids=lambda file: file.parent.name)
@pytest.mark.parametrize("reader", READERS)
def test_the_reference_runs_are_read(reader: Reader, file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    rows = [row["name"] for row in json.loads(text)["benchmarks"]]
    # Bencher keeps one value per name, the last repetition.
    assert len(reader(text)) == len(set(rows) if reader is bencher else rows)


# --- these readers do reject wrong files --------------------------------------


def row_with(key: str, value: Any) -> Callable[[Json], None]:
    def change(document: Json) -> None:
        document["benchmarks"][-1][key] = value

    return change


def context_with(key: str, value: Any) -> Callable[[Json], None]:
    def change(document: Json) -> None:
        document["context"][key] = value

    return change


@pytest.mark.parametrize(
    ("reader", "change", "message"),
    [
        (bencher, context_with("caches", {}), "caches is dict"),
        (bencher, row_with("name", ""), "a name of 0 bytes"),
        (bencher, row_with("name", "é" * 513), "a name of 1026 bytes"),
        (bencher, row_with("real_time", None), "real_time is NoneType"),
        (bencher, row_with("real_time", 1e30), "too large"),
        (bencher, row_with("real_time", float("nan")), "NaN is not JSON"),
        (bencher, row_with("time_unit", "min"), "min is no unit"),
        (github_action, row_with("real_time", float("inf")), "Infinity is not JSON"),
        (github_action, row_with("threads", "1"), "threads is a string"),
        (github_action, row_with("iterations", True), "iterations is a boolean"),
        (github_action, context_with("num_cpus", "2"), "num_cpus is a string"),
        (github_action, context_with("load_avg", ["2"]), "load_avg"),
        (github_action, context_with("library_build_type", "x"), "neither"),
    ],
)
def test_a_reader_refuses(
    plain: str, reader: Reader, change: Callable[[Json], None], message: str
) -> None:
    document = json.loads(plain)
    change(document)
    with pytest.raises(Refused, match=message):
        reader(json.dumps(document))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"benchmarks": [', '"rows": [', "benchmarks is missing"),
        ('"context": {', '"context_": {', "context is missing"),
        ('"real_time": ', '"real_time": 1, "real_time": ', "a field twice"),
        ('"complete"', "", "delimiter|property name"),
    ],
)
def test_each_reader_refuses(
    plain: str, reader: Reader, old: str, new: str, message: str
) -> None:
    assert old in plain
    with pytest.raises(Refused, match=message):
        reader(plain.replace(old, new, 1))
