# SPDX-License-Identifier: MIT
"""Runs every experiment on a null GPU: covers all CUDA paths, but reports no time."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import program
from null_gpu import CHECKED, FLAGS, in_order, null_gpu, processes_without_accesses
from program import NANO_FORWARD, SMOKE, Finished, Json, Program, binary, load, without
from reports.answers.judging import Verdict, judgements
from reports.results.rows import parse

EXPERIMENTS = Path(__file__).resolve().parents[3] / "benchmarks"
# The cases that a smoke run on one GPU skips, and why.
SKIPS = {
    r"^(all_reduce/nccl|ddp|ddp_equivalence|sharded_optimizer|fsdp|tensor_parallel)/": (
        "NCCL needs a GPU for each of 2 ranks"
    ),
    r"^fused_ops/rope/library/": "LibTorch has no rotary embedding",
    r"^flash_attention/sdpa_flash/fp32/": "on a GPU sdpa_flash attention supports ",
}
# So wide that the allocator's rounding of small tensors is below one percent.
WIDE = "--model=name=nano,d_model=128,d_ff=256,layers=2,heads=2,vocab=512"
# A time, or a value derived from one.
TIME = re.compile(r"_us$|_per_second$|_share$|^mfu|^cv$|_cv$|speedup|time_ratio|spread")


def run(trainbench: Program, *flags: str, **env: Any) -> tuple[Finished, Json]:
    done = trainbench.run(
        *CHECKED, "--benchmark_out=a.json", *flags, env=null_gpu(**env)
    )
    path = trainbench.directory / "a.json"
    return done, load(path) if path.exists() else {}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report") / "report.jsonl"


@pytest.fixture(scope="module")
def smoke(
    tmp_path_factory: pytest.TempPathFactory, report: Path
) -> Iterator[tuple[Finished, Json]]:
    trainbench = Program(
        binary("TRAINBENCH_BINARY"), tmp_path_factory.mktemp("null_gpu")
    )
    yield run(trainbench, *without(SMOKE, "--model"), WIDE, **in_order(report))


def test_every_row_is_good_or_skipped_for_a_right_reason(
    smoke: tuple[Finished, Json],
) -> None:
    done, document = smoke
    assert document["errors"] == []
    assert done.code == 0, done.err
    assert document["complete"] is True
    for row in document["skipped"]:
        (why,) = (why for name, why in SKIPS.items() if re.match(name, row["name"]))
        assert row["reason"].startswith(why), row


def test_streams_touch_memory_in_order(
    smoke: tuple[Finished, Json], report: Path
) -> None:
    """Accesses out of order end the process, and the test of its rows fails."""
    assert smoke[0].code == 0, smoke[0].err
    assert processes_without_accesses(report) == []


@pytest.mark.parametrize("suite", ["quick", "full", "paper"])
def test_every_sweep_is_valid_on_a_gpu(trainbench: Program, suite: str) -> None:
    done = trainbench.run(
        "--device=cuda", f"--suite={suite}", "--benchmark_list_tests", env=null_gpu()
    )
    assert done.code == 0, done.err
    assert {name.partition("/")[0] for name in done.out.split()} == {
        path.stem for path in EXPERIMENTS.glob("*.cc")
    }


def test_every_experiment_has_rows(smoke: tuple[Finished, Json]) -> None:
    _, document = smoke
    names = program.names(document["benchmarks"] + document["skipped"])
    assert {name.partition("/")[0] for name in names} == {
        path.stem for path in EXPERIMENTS.glob("*.cc")
    }


def test_bytes_and_counts_are_held_to_the_expectations(
    smoke: tuple[Finished, Json],
) -> None:
    judged = judgements(parse(smoke[1]))
    assert judged, "the memory of a step is predicted without a time"
    for judgement in judged:
        counter = judgement.expectation.quantity.counter
        assert not TIME.search(counter), counter
        assert judgement.verdict is not Verdict.CANNOT_TELL


def test_no_time_is_written(smoke: tuple[Finished, Json]) -> None:
    _, document = smoke
    assert document["context"]["device_kind"] == "null_cuda"
    assert document["context"]["device"].endswith("(null)")
    for row in program.measured(document):
        assert row["real_time"] == 0, row
        assert [k for k in row if TIME.search(k) and k != "host_us"] == [], row["name"]


def test_no_time_is_printed(smoke: tuple[Finished, Json]) -> None:
    done, _ = smoke
    lines = done.out.splitlines()
    assert "null GPU: kernels do nothing, times are not measured" in done.out
    (headings,) = [line for line in lines if line.startswith("case ")]
    end = headings.index("time") + len("time")
    rows = [line for line in lines if re.match(r"\w+/.*[^:]  +- ", line)]
    assert rows
    for line in rows:
        assert line[:end].endswith("  -")


def test_the_peak_of_an_empty_call_is_nothing(smoke: tuple[Finished, Json]) -> None:
    _, document = smoke
    (empty,) = [r for r in document["benchmarks"] if r["name"] == "harness/empty"]
    assert empty["peak_bytes"] == 0


def test_the_peak_of_a_step_is_the_predicted_one(smoke: tuple[Finished, Json]) -> None:
    _, document = smoke
    steps = [r for r in document["benchmarks"] if r["name"].startswith("model_size/")]
    assert steps
    for row in steps:
        assert abs(row["peak_bytes"] / row["predicted_peak_bytes"] - 1) < 0.01, row


def test_wrong_results_are_errors_where_they_are_not_accepted(
    trainbench: Program,
) -> None:
    done = trainbench.run(
        "--device=cuda",
        "--benchmark_min_time=0",
        "--benchmark_filter=^accumulation/",
        "--benchmark_out=a.json",
        env=null_gpu(),
    )
    assert done.code == 1
    errors = load(trainbench.directory / "a.json")["errors"]
    assert errors
    for row in errors:
        assert row["reason"].startswith("wrong result: "), row


@pytest.mark.parametrize("output", ["samples_out", "trace"])
def test_there_are_no_times_to_write(trainbench: Program, output: str) -> None:
    flags = without(NANO_FORWARD, "--benchmark_min_time")
    done = trainbench.run(*flags, *FLAGS, f"--{output}=a", env=null_gpu())
    assert done.code == 2
    assert f"--{output} is 'a'" in done.err and "no times" in done.err
    assert list(trainbench.directory.iterdir()) == []


def test_ranks_meet_on_several_null_gpus(trainbench: Program) -> None:
    done, document = run(
        trainbench, "--suite=smoke", "--benchmark_filter=^all_reduce/nccl/", count=2
    )
    assert document["errors"] == [], done.err
    (row,) = document["benchmarks"]
    assert row["ranks"] == 2
    assert "busbw_bytes_per_second" not in row
