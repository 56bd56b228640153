# SPDX-License-Identifier: MIT
"""A failing GPU costs only the affected case, which reports the reason."""

import json
import re

import pytest

from null_gpu import CHECKED, FLAGS, null_gpu
from program import OUT, Json, Program, Rehearse, load_lines, measured, names

PAGE = 20 << 20  # the unit in which the caching allocator's segments grow
# Four short cases that launch about the same number of kernels.
NORMS = ("--suite=smoke", "--warmup=0", "--benchmark_filter=^norm_precision/")
STEP = "model_size/tiny/fp32/forward_backward/batch:4/seq:512"
STEPS = ("--suite=smoke", "--models=tiny", "--batch=4", "--seq=512")


def run(
    trainbench: Program, fault: str, *flags: str, count: int = 1, **extra: str
) -> Json:
    env = null_gpu(count=count, fault=fault, **extra)
    done = trainbench.run(*CHECKED, OUT, *flags, code=None, env=env)
    document = trainbench.result()
    assert document["complete"] is True
    assert done.returncode == (1 if document["errors"] else 0), done.stderr
    return document


def reported(program: Program, fault: str, *flags: str) -> tuple[Json, list[Json]]:
    """Returns the result and what the null GPU reports of each process."""
    report = program.directory / "report.jsonl"
    report.unlink(missing_ok=True)
    document = run(program, fault, *flags, TRAINBENCH_NULL_GPU_REPORT=str(report))
    return document, load_lines(report)


def test_memory_that_ends_though_the_case_fits_skips_it(trainbench: Program) -> None:
    document = run(
        trainbench,
        f"malloc>={PAGE}:1+",
        "--suite=smoke",
        "--benchmark_filter=^(harness|model_size/tiny/fp32/forward)/",
    )
    assert names(measured(document)) == []
    for row in document["skipped"]:
        assert "does not fit" in row["reason"]
        assert "CUDA out of memory. Tried to allocate" in row["reason"]
    (step,) = (r for r in document["skipped"] if r["name"].startswith("model_size/"))
    assert "although the predicted need is" in step["reason"]
    assert "predicted peak" in step["reason"]


def stages(trainbench: Program, fault: str, *flags: str) -> tuple[list[str], Json]:
    """Returns the stages of a process that runs STEP, and the outcome."""
    done = trainbench.run(
        *(*CHECKED, *STEPS, *flags, f"--isolated_case={STEP}"),
        code=None,
        env=null_gpu(fault=fault),
    )
    found = re.findall("^in (.*)$", done.stderr, re.MULTILINE)
    (outcome,) = json.loads(done.stdout.splitlines()[-1])
    return found, outcome


def test_memory_that_is_there_again_costs_nothing(trainbench: Program) -> None:
    # The caching allocator itself retries once.
    fault = f"malloc>={PAGE}:12;malloc>={PAGE}:13"
    found, outcome = stages(trainbench, fault)
    assert found.count("build") == 2
    assert outcome["reason"] == ""
    document = run(trainbench, fault, *STEPS, f"--benchmark_filter=^{STEP}")
    assert names(measured(document)) == [STEP]


def test_pinned_memory_that_ends_is_not_the_gpus(trainbench: Program) -> None:
    document = run(
        trainbench,
        "host_malloc>=65536:1+",
        "--suite=smoke",
        "--benchmark_filter=^transfer/",
    )
    assert document["skipped"] == []
    pinned = [row["name"] for row in document["errors"]]
    assert pinned and all("/pinned/" in name for name in pinned)
    for row in document["errors"]:
        assert row["reason"] == "out of memory on the host"
    assert measured(document)


def test_memory_that_ends_in_the_backward_pass_skips_the_case(
    trainbench: Program, rehearse: Rehearse
) -> None:
    chosen = "--benchmark_filter=^model_size/tiny/fp32/forward"
    cases = rehearse("--gpu=h100", *STEPS, chosen)
    forward, backward = (case["reserved_bytes"] // PAGE for case in cases)
    assert forward + 2 < backward
    fault = f"malloc>={PAGE}:{forward + 2}+"
    document = run(trainbench, fault, *STEPS, f"--benchmark_filter=^{STEP}")
    (row,) = document["skipped"]
    assert "CUDA out of memory" in row["reason"]


def test_a_model_that_ends_in_the_backward_pass_names_the_node(
    rehearse: Rehearse,
) -> None:
    # 27 GiB of weights, as many of gradients, and almost no activations.
    model = "name=wide,d_model=4096,d_ff=16384,layers=27,heads=32,vocab=64"
    flags = ["--models=wide", f"--model={model}", "--batch=1", "--seq=8"]
    chosen = "--benchmark_filter=^model_size/wide/fp32/forward_backward/"
    (case,) = rehearse("--gpu=a100-40", "--suite=smoke", *flags, chosen)
    assert case["status"] == "skipped"
    assert case["out_of_memory"]["phase"] == "backward"
    assert case["out_of_memory"]["operator"].endswith("Backward0)")


def test_memory_that_ends_in_a_rehearsal_skips_the_case_on_all_ranks(
    trainbench: Program,
) -> None:
    document = trainbench.measure(
        *(*FLAGS, "--rehearsal", *STEPS, "--ranks=2"),
        "--benchmark_filter=^sharded_optimizer/replicated/",
        env=null_gpu(count=2, fault=f"malloc>={PAGE}:7+"),
    )
    (row,) = document["skipped"]
    assert row["reason"].startswith("rank 0: does not fit, although the predicted need")
    assert row["reason"].endswith("; memory ends in forward")
    (found,) = document["rehearsals"]
    assert found["case"] == row["name"] and found["phases"] == []
    assert found["out_of_memory"]["phase"] == "forward"


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (f"malloc>={PAGE}:1+", ": out of memory: CUDA out of memory"),
        ("nccl:3=out_of_memory", "Cuda failure 2 'out of memory'"),
    ],
)
def test_memory_that_ends_in_a_collective_skips_its_case(
    trainbench: Program, fault: str, words: str
) -> None:
    document = run(
        trainbench,
        fault,
        "--suite=smoke",
        "--benchmark_filter=^all_reduce/nccl/",
        count=2,
    )
    (row,) = document["skipped"]
    assert row["name"].startswith("all_reduce/nccl/")
    assert words in row["reason"] and "rank " in row["reason"]


def launches(trainbench: Program, *flags: str) -> int:
    """Returns the number of kernels that a run launches in one process."""
    _, (report,) = reported(trainbench, "", *flags)
    return int(report["counters"]["launches"])


@pytest.fixture(scope="module")
def in_second_norm(shared: Program) -> int:
    """A launch in the second of the four cases of NORMS."""
    return int(0.4 * launches(shared, *NORMS))


def test_after_a_lost_context_each_case_has_a_process(
    trainbench: Program, in_second_norm: int
) -> None:
    fault = f"launch:{in_second_norm}=illegal_address,sticky"
    document, processes = reported(trainbench, fault, *NORMS)
    (lost,) = document["errors"]
    assert "an illegal memory access was encountered" in lost["reason"]
    assert "this process lost the device" in lost["reason"]
    rows = measured(document)
    assert ["process" in row["findings"] for row in rows] == [False, True, True]
    # The first process released its memory to the fresh processes.
    reset = [p for p in processes if "cudaDeviceReset" in p["calls"]]
    assert len(processes) == 3 and len(reset) == 1
    assert reset[0]["calls"]["cudaDeviceReset"] == 1
    assert reset[0]["counters"]["device_bytes"] == 0


SOON = "--device_timeout_seconds=1"


@pytest.mark.parametrize(
    ("launch", "stage"),
    [("5", None), ("40", "build"), ("400", "check"), ("-10", "findings")],
)
def test_a_kernel_that_never_ends_ends_its_case(
    trainbench: Program, launch: str, stage: str | None
) -> None:
    at = int(launch)
    if at < 0:
        chosen = f"--benchmark_filter=^{STEP}"
        at += launches(trainbench, *STEPS, "--warmup=0", chosen)
    found, outcome = stages(trainbench, f"launch:{at}=never", SOON, "--warmup=0")
    assert stage is None or found[-1] == stage
    assert "the GPU did not finish a call within 1 s" in outcome["reason"]
    assert "this process lost the device (it does not finish" in outcome["reason"]


def test_beside_a_kernel_that_never_ends_nothing_is_timed(
    trainbench: Program, in_second_norm: int
) -> None:
    fault = f"launch:{in_second_norm}=never"
    document, processes = reported(trainbench, fault, *NORMS, SOON)
    assert len(measured(document)) == 1
    hung, *others = document["errors"]
    assert "no case can be timed while its work runs" in hung["reason"]
    assert [row["reason"] for row in others] == 2 * [
        f"not run, because this process lost the device in {hung['name']} "
        "(it does not finish its work)"
    ]
    assert len(processes) == 1, "a process was started"


def test_a_launch_that_fails_in_the_check_fails_the_row(trainbench: Program) -> None:
    fault = "launch:25=launch_failure"
    document = run(trainbench, fault, *NORMS)
    (failed,) = document["errors"]
    assert "unspecified launch failure" in failed["reason"]
    assert len(measured(document)) == 3
    alone = trainbench.run(
        *(*CHECKED, *NORMS, f"--isolated_case={failed['name']}"),
        code=None,
        env=null_gpu(fault=fault),
    )
    assert alone.stderr.splitlines()[-1] == "in check"


def test_an_event_that_never_comes_costs_its_case(trainbench: Program) -> None:
    # The last event of a call: on a GPU no event completes after one that never does.
    document = run(trainbench, "event_record:66=never", *NORMS, SOON)
    (failed,) = document["errors"]
    assert "the GPU did not finish a call within" in failed["reason"]
    assert len(measured(document)) == 3
