# SPDX-License-Identifier: MIT
"""Two services for benchmark histories read our files.

Their requirements are the types below, field by field, from

- github-action-benchmark v1.22.0, `tool: googlecpp`: GoogleCppBenchmarkJson and
  extractGoogleCppResult in src/extract.ts of its repository;
- Bencher v0.6.12, `--adapter cpp_google`: adapters/cpp/google.rs and adapters/util.rs
  in lib/bencher_adapter, benchmark_name.rs in lib/bencher_valid of bencherdev/bencher.

Both accept unknown fields, and neither distinguishes aggregates from runs: each entry
of `benchmarks` is a value of its own.
"""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from program import (
    NANO,
    NANO_FORWARD,
    NANO_FORWARD_NAME,
    OUT,
    Program,
    measured,
    names,
    without,
)

# Replaces NANO's model, under the same name, by one that no machine can hold.
HUGE = "--model=name=nano,d_model=65536,d_ff=32,layers=1,heads=2,vocab=16777216"
ROOT = Path(__file__).resolve().parents[2]
REFERENCES = [
    table.with_suffix(".json")
    for table in sorted(ROOT.glob("reports/reference/*/full.txt"))
]


class ActionContext(Struct):
    date: str
    host_name: str
    executable: str
    num_cpus: float
    mhz_per_cpu: float
    cpu_scaling_enabled: bool
    library_build_type: Literal["release", "debug"]
    load_avg: list[float]


class ActionRow(Struct, tag_field="run_type"):
    name: str
    run_name: str
    repetitions: float
    threads: float
    iterations: float
    real_time: float
    cpu_time: float
    time_unit: str


class ActionRun(ActionRow, tag="iteration"):
    repetition_index: float


class ActionAggregate(ActionRow, tag="aggregate"):
    """Google Benchmark's have no repetition_index, and the reader ignores the field."""


class ActionFile(Struct):
    context: ActionContext
    benchmarks: Annotated[list[ActionRun | ActionAggregate], Meta(min_length=1)]


class BencherContext(Struct):
    caches: list[Any]


class BencherRow(Struct):
    name: Annotated[str, Meta(min_length=1, max_length=1024)]
    # The limits of rust_decimal.
    real_time: Annotated[float, Meta(gt=-(2.0**96), lt=2.0**96)]
    time_unit: Literal["ps", "ns", "us", "µs", "μs", "ms", "s"]


class BencherFile(Struct):
    context: BencherContext
    benchmarks: Annotated[list[BencherRow], Meta(min_length=1)]


def check_read(text: str) -> None:
    """Both services can read the file, which has no NaN and no field twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs), [key for key, _ in pairs]
        return dict(pairs)

    json.loads(text, object_pairs_hook=once)
    for file in (ActionFile, BencherFile):
        msgspec.json.decode(text, type=file)


def written(program: Program, *flags: str) -> str:
    program.run(*flags, OUT)
    return (program.directory / "a.json").read_text()


def test_each_case_is_one_entry_with_its_median(trainbench: Program) -> None:
    """One row of each kind of workload."""
    cases = "^(model_size|optimizer|harness|ddp/flat|accumulation|norm_precision)/"
    text = written(trainbench, *NANO, f"--benchmark_filter={cases}")
    check_read(text)
    rows = json.loads(text)["benchmarks"]
    assert len(set(names(rows))) == len(rows) > 5
    for row in rows:
        assert (row["time_unit"], row["iterations"]) == ("us", 1)
        assert row["real_time"] == pytest.approx(row.get("p50_us", row["real_time"]))


def test_repetitions_and_aggregates_are_entries_of_their_own(
    trainbench: Program,
) -> None:
    text = written(trainbench, *NANO_FORWARD, "--benchmark_repetitions=3")
    check_read(text)
    # Both keep one value of a name: a run, as aggregates have names of their own.
    summary = [f"{NANO_FORWARD_NAME}_{a}" for a in ("mean", "median", "stddev", "cv")]
    assert names(json.loads(text)["benchmarks"]) == [NANO_FORWARD_NAME] * 3 + summary


def test_a_case_that_does_not_fit_has_no_entry(trainbench: Program) -> None:
    cases = "^(model_size/nano/fp32/forward/|harness/)"
    flags = (*without(NANO, "--model"), HUGE, f"--benchmark_filter={cases}")
    text = written(trainbench, *flags)
    check_read(text)
    document = json.loads(text)
    (skipped,) = document["skipped"]
    assert skipped["name"] == NANO_FORWARD_NAME
    assert "; a call's peak is at aten::" in skipped["reason"]
    assert "; largest tensors: " in skipped["reason"]
    rows = names(measured(document))
    assert rows and NANO_FORWARD_NAME not in rows


def test_what_is_printed_is_the_document_alone(trainbench: Program) -> None:
    """Bencher reads the standard output of a command."""
    done = trainbench.run(*NANO_FORWARD, "--benchmark_format=json")
    check_read(done.stdout)
    assert json.loads(done.stdout)["questions"]


@pytest.mark.parametrize("file", REFERENCES, ids=lambda file: file.parent.name)
def test_the_reference_runs_are_read(file: Path) -> None:
    check_read(file.read_text(encoding="utf-8"))
