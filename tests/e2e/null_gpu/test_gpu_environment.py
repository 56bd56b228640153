# SPDX-License-Identifier: MIT
"""What the environment decides about a GPU, and where that is said."""

import pytest

from null_gpu import FLAGS, null_gpu
from program import Json, Program, load

EMPTY = ("--suite=smoke", "--benchmark_filter=^harness/empty$")


def context(trainbench: Program, fault: str = "", **variables: str) -> Json:
    done = trainbench.run(
        *FLAGS,
        *EMPTY,
        "--benchmark_out=a.json",
        env=null_gpu(fault=fault) | variables,
    )
    assert done.code == 0, done.err
    found: Json = load(trainbench.directory / "a.json")["context"]
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
    done = trainbench.run(*FLAGS, *EMPTY, env=null_gpu(NVIDIA_TF32_OVERRIDE="1"))
    assert done.code == 2
    assert "NVIDIA_TF32_OVERRIDE is '1'; allowed: unset" in done.err
