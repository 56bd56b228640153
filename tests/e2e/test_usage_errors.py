# SPDX-License-Identifier: MIT
"""Wrong usage of the whole program; tests/fixtures/app/program_test.cc has the rest."""

from pathlib import Path

import pytest

from program import Program


def assert_one_line(err: str, *parts: str) -> None:
    assert err.startswith("trainbench: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    for part in parts:
        assert part in err


def test_an_unknown_flag(trainbench: Program) -> None:
    done = trainbench.run("--nonsense")
    assert done.code == 2
    assert done.out == ""
    assert_one_line(done.err, "'--nonsense'", "--help")
    assert list(trainbench.directory.iterdir()) == []


def test_a_gpu_that_is_not_there(trainbench: Program) -> None:
    done = trainbench.run("--device=cuda", "--benchmark_list_tests")
    if done.code == 0:
        pytest.skip("there is a usable GPU")
    assert done.code == 2
    assert done.out == ""
    assert_one_line(done.err, "--device is cuda", "no usable GPU", "cpu")


def test_a_bad_variable_is_reported_like_its_flag(trainbench: Program) -> None:
    done = trainbench.run(env={"BENCHMARK_REPETITIONS": "often"})
    assert done.code == 2
    # Google Benchmark has said so in words of its own, before main.
    last = done.err.splitlines(keepends=True)[-1]
    assert_one_line(last, "--benchmark_repetitions is 'often'", "from 1")


def test_a_full_disk_is_status_1_and_one_line(trainbench: Program) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    done = trainbench.run(
        "--suite=smoke",
        "--benchmark_filter=model_size/tiny/fp32/forward/",
        "--benchmark_min_time=0",
        "--samples_out=/dev/full",
    )
    assert done.code == 1
    last = done.err.splitlines(keepends=True)[-1]
    assert_one_line(last, "/dev/full", "No space left")
