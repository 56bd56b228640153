# SPDX-License-Identifier: MIT
"""The effect of environment variables on a GPU run, and where it is reported."""

import pytest

from null_gpu import FLAGS, null_gpu
from program import OUT, Json, Program, measured

EMPTY = ("--suite=smoke", "--benchmark_filter=^harness/empty$")


def context(trainbench: Program, fault: str = "", **variables: str) -> Json:
    env = null_gpu(fault=fault) | variables
    found: Json = trainbench.measure(*FLAGS, *EMPTY, env=env)["context"]
    return found


def test_segments_grow_and_variables_are_recorded(trainbench: Program) -> None:
    found = context(trainbench, CUDA_LAUNCH_BLOCKING="1")
    assert found["allocator_settings"] == "expandable_segments:True"
    assert found["CUDA_LAUNCH_BLOCKING"] == "1"


@pytest.mark.parametrize("variable", ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"])
def test_the_users_allocator_stays(trainbench: Program, variable: str) -> None:
    found = context(trainbench, **{variable: "max_split_size_mb:200"})
    assert found["allocator_settings"] == "max_split_size_mb:200"
    assert found[variable] == "max_split_size_mb:200"


def test_a_gpu_without_virtual_memory_has_the_usual_segments(
    trainbench: Program,
) -> None:
    found = context(trainbench, fault="cuMemAddressReserve:*=invalid_value")
    assert found["allocator_settings"] == "expandable_segments:False"


def test_what_decides_about_tf32_is_refused(trainbench: Program) -> None:
    env = null_gpu(NVIDIA_TF32_OVERRIDE="1")
    done = trainbench.run(*FLAGS, *EMPTY, code=2, env=env)
    assert "NVIDIA_TF32_OVERRIDE is '1'; allowed: unset" in done.stderr


def test_a_gpu_that_is_too_old_is_refused(trainbench: Program) -> None:
    done = trainbench.run(*FLAGS, *EMPTY, code=2, env=null_gpu("t4"))
    (line,) = done.stderr.splitlines()
    why = "Tesla T4 (null) has compute capability 7.5; trainbench needs 8.0 or more"
    assert line.endswith(f"{why}; allowed here: auto, cpu")
    done = trainbench.run("--device=auto", *EMPTY, env=null_gpu("t4"))
    assert f"no GPU is used: {why}" in done.stderr


# One row with a profile, one in a fresh process, one with ranks, and a plain one.
KINDS = "^(precision/.*/fp32/|warmup/|all_reduce/nccl/|harness/empty$)"


def test_a_gpu_that_is_for_one_process_has_one(trainbench: Program) -> None:
    report = trainbench.directory / "report.jsonl"
    done = trainbench.run(
        *(*FLAGS, "--suite=smoke", f"--benchmark_filter={KINDS}", OUT),
        env=null_gpu(
            count=2,
            TRAINBENCH_NULL_GPU_EXCLUSIVE="1",
            TRAINBENCH_NULL_GPU_REPORT=str(report),
        ),
    )
    assert done.stderr.count("EXCLUSIVE_PROCESS") == 1
    document = trainbench.result()
    why = "the GPU's compute mode excludes other processes"
    assert document["skipped"]
    assert {row["reason"] for row in document["skipped"]} == {why}
    found = {row["name"].split("/")[0]: row["findings"] for row in measured(document)}
    assert found.keys() == {"precision", "harness"}
    assert found["precision"]["profiled"] == f"no: {why}"
    assert len(report.read_text().splitlines()) == 1, "a process was started"
