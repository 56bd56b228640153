# SPDX-License-Identifier: MIT
"""Runs every experiment on a null GPU: covers all CUDA paths, but reports no time."""

import re
from pathlib import Path

import pytest

import program
from null_gpu import CHECKED, FLAGS, in_order, null_gpu, processes_without_accesses
from processes import Finished
from program import NANO_FORWARD, OUT, SMOKE, Json, Program, without
from reports.answers.judging import Verdict, judgements
from reports.results.result_file import parse

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


@pytest.fixture(scope="module")
def report(shared: Program) -> Path:
    return shared.directory / "report.jsonl"


@pytest.fixture(scope="module")
def smoke(shared: Program, report: Path) -> tuple[Finished, Json]:
    flags = (*CHECKED, *without(SMOKE, "--model"), WIDE, OUT)
    done = shared.run(*flags, code=None, env=null_gpu() | in_order(report))
    return done, shared.result()


def test_every_row_is_good_or_skipped_for_a_right_reason(
    smoke: tuple[Finished, Json],
) -> None:
    done, document = smoke
    assert document["errors"] == []
    assert done.returncode == 0, done.stderr
    assert document["complete"] is True
    for row in document["skipped"]:
        (why,) = (why for name, why in SKIPS.items() if re.match(name, row["name"]))
        assert row["reason"].startswith(why), row


def test_streams_touch_memory_in_order(
    smoke: tuple[Finished, Json], report: Path
) -> None:
    """Accesses out of order end the process, and the test of its rows fails."""
    assert smoke[0].returncode == 0, smoke[0].stderr
    assert processes_without_accesses(report) == []


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
    assert "null GPU: kernels do nothing, times are not measured" in done.stdout
    rows = re.findall(r"^\w+/\S+ +(\S+)", done.stdout, re.M)
    assert set(rows) == {"-", "SKIPPED"}


def test_the_peak_of_an_empty_call_is_nothing(smoke: tuple[Finished, Json]) -> None:
    _, document = smoke
    (empty,) = [r for r in document["benchmarks"] if r["name"] == "harness/empty"]
    assert empty["peak_bytes"] == 0


def test_wrong_results_are_errors_where_they_are_not_accepted(
    trainbench: Program,
) -> None:
    flags = ("--device=cuda", "--benchmark_min_time=0")
    cases = "--benchmark_filter=^accumulation/"
    errors = trainbench.measure(*flags, cases, code=1, env=null_gpu())["errors"]
    assert errors
    for row in errors:
        assert row["reason"].startswith("wrong result: "), row


@pytest.mark.parametrize("output", ["samples_out", "trace"])
def test_there_are_no_times_to_write(trainbench: Program, output: str) -> None:
    flags = without(NANO_FORWARD, "--benchmark_min_time")
    done = trainbench.run(*flags, *FLAGS, f"--{output}=a", code=2, env=null_gpu())
    assert f"--{output} is 'a'" in done.stderr and "no times" in done.stderr
    assert list(trainbench.directory.iterdir()) == []
