# SPDX-License-Identifier: MIT
"""Two services for benchmark histories read our files (see readers.py)."""

import json
from pathlib import Path

import pytest

from program import (
    FAST,
    NANO,
    NANO_FORWARD,
    NANO_FORWARD_NAME,
    OUT,
    Program,
    measured,
    names,
    without,
)
from readers import READERS, Reader, Refused, bencher, github_action

# Replaces NANO's model, under the same name, by one that no machine can hold.
HUGE = "--model=name=nano,d_model=65536,d_ff=32,layers=1,heads=2,vocab=16777216"
ROOT = Path(__file__).resolve().parents[2]
REFERENCES = [
    table.with_suffix(".json")
    for table in sorted(ROOT.glob("reports/reference/*/full.txt"))
]


def written(program: Program, *flags: str, code: int = 0) -> str:
    program.run(*flags, OUT, code=code)
    return (program.directory / "a.json").read_text()


@pytest.fixture(scope="module")
def plain(shared: Program) -> str:
    """One row of each kind of workload."""
    cases = "^(model_size|optimizer|harness|ddp/flat|accumulation|norm_precision)/"
    return written(shared, *NANO, f"--benchmark_filter={cases}")


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


def test_a_skipped_case_has_no_entry(trainbench: Program) -> None:
    cases = "^(model_size/nano/fp32/forward/|harness/)"
    flags = (*without(NANO, "--model"), HUGE, f"--benchmark_filter={cases}")
    text = written(trainbench, *flags)
    assert names(json.loads(text)["skipped"]) == [NANO_FORWARD_NAME]
    kept = names(json.loads(text)["benchmarks"])
    assert kept and NANO_FORWARD_NAME not in kept
    assert [bench.name for bench in github_action(text)] == kept
    assert list(bencher(text)) == kept


def test_a_failed_case_has_no_entry(faults: Program) -> None:
    text = written(faults, *FAST, "--benchmark_filter=/(good|throw_in_run)", code=1)
    good = ["fault/good/n:0", "fault/good/n:1"]
    assert names(json.loads(text)["errors"]) == ["fault/throw_in_run"]
    assert [bench.name for bench in github_action(text)] == good
    assert list(bencher(text)) == good


def test_what_is_printed_is_the_document_alone(trainbench: Program) -> None:
    """Bencher reads the standard output of a command."""
    done = trainbench.run(*NANO_FORWARD, "--benchmark_format=json")
    assert list(bencher(done.out)) == [NANO_FORWARD_NAME]
    assert len(github_action(done.out)) == 1
    assert json.loads(done.out)["questions"]


@pytest.mark.parametrize("file", REFERENCES, ids=lambda file: file.parent.name)
@pytest.mark.parametrize("reader", READERS)
def test_the_reference_runs_are_read(reader: Reader, file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    rows = [row["name"] for row in json.loads(text)["benchmarks"]]
    # Bencher keeps one value per name, the last repetition.
    assert len(reader(text)) == len(set(rows) if reader is bencher else rows)


# --- these readers do reject wrong files --------------------------------------


@pytest.mark.parametrize(
    ("reader", "old", "new", "message"),
    [
        (bencher, '"caches": [', '"caches": "", "x": [', "caches is a string"),
        (bencher, '"name": ', '"name": "", "x": ', "a name of 0 bytes"),
        (bencher, '"real_time": ', '"real_time": 1e30, "x": ', "too large"),
        (bencher, '"time_unit": "us"', '"time_unit": "min"', "min is no unit"),
        (bencher, '"real_time": ', '"real_time": 1, "real_time": ', "a field twice"),
        (github_action, '"real_time": ', '"real_time": NaN, "x": ', "NaN is not JSON"),
        (github_action, '"iterations": ', '"iterations": true, "x": ', "is a boolean"),
        (github_action, '"load_avg": [', '"load_avg": ["2"], "x": [', "load_avg"),
        (github_action, '"benchmarks": [', '"rows": [', "benchmarks is missing"),
        (github_action, '"complete"', "", "delimiter|property name"),
    ],
)
def test_a_reader_refuses(
    plain: str, reader: Reader, old: str, new: str, message: str
) -> None:
    assert old in plain
    with pytest.raises(Refused, match=message):
        reader(plain.replace(old, new, 1))
