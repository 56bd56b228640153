# SPDX-License-Identifier: MIT
"""Flags that choose what is measured, and how."""

import pytest

from program import (
    NANO,
    NANO_FORWARD,
    Json,
    Program,
    load,
    measured,
    without,
)

OUT = "--benchmark_out=a.json"


def rows(program: Program, *flags: str) -> list[Json]:
    done = program.run(*flags, OUT)
    assert done.code == 0, done.err
    return measured(load(program.directory / "a.json"))


def test_a_model_of_the_users_own_beside_a_standard_one(trainbench: Program) -> None:
    found = rows(
        trainbench,
        "--models=mine,tiny",
        "--model=name=mine,d_model=32,d_ff=64,layers=2,heads=4,vocab=100",
        "--benchmark_filter=^model_size/.*/fp32/forward/",
        "--suite=smoke",
        "--batch=3",
        "--seq=16",
        "--benchmark_min_time=0.001",
    )
    assert [row["name"] for row in found] == [
        f"model_size/{model}/fp32/forward/batch:3/seq:16" for model in ("mine", "tiny")
    ]
    # Embedding and output, 2 blocks with 4 projections and 3 matrices of the gated
    # feed-forward layer, and 5 norms.
    assert found[0]["params"] == 2 * 3200 + 2 * (4 * 32**2 + 3 * 32 * 64) + 5 * 32


@pytest.mark.parametrize("allocator", ["caching", "system"])
def test_the_allocator_is_in_the_context(trainbench: Program, allocator: str) -> None:
    rows(trainbench, *NANO_FORWARD, f"--cpu_allocator={allocator}")
    context = load(trainbench.directory / "a.json")["context"]
    assert context["cpu_allocator"] == allocator
    assert context["sampling"].endswith("warmup=1 samples=auto rounds=1")


@pytest.mark.parametrize(
    ("suite", "given", "seconds"),
    [
        ("quick", (), "min_time=0.3 max_case_seconds=3.5"),
        ("quick", ("--max_case_seconds=30",), "min_time=0.3 max_case_seconds=30"),
        ("full", (), "min_time=1 max_case_seconds=30"),
    ],
)
def test_the_quick_suite_samples_for_a_shorter_time(
    trainbench: Program, suite: str, given: tuple[str, ...], seconds: str
) -> None:
    tiny = without(NANO, "--suite", "--benchmark_min_time")
    step = "--benchmark_filter=^model_size/nano/fp32/train_step/"
    rows(trainbench, *tiny, step, f"--suite={suite}", "--samples=1", *given)
    context = load(trainbench.directory / "a.json")["context"]
    assert context["sampling"].startswith(f"{seconds} ")


def test_a_longer_time_gives_more_samples(faults: Program) -> None:
    # Steps of 25 and 75 ms keep the median from ending the sampling early.
    few, many = (
        rows(
            faults,
            "--benchmark_filter=/slow",
            "--warmup=0",
            f"--benchmark_min_time={seconds}",
        )[0]["samples"]
        for seconds in (0.1, 2)
    )
    assert few == 6
    # A sleep is never too short, but may be longer on a busy machine.
    assert 6 < many <= 41


def test_the_time_limit_of_a_case_holds(faults: Program) -> None:
    (row,) = rows(
        faults,
        "--benchmark_filter=/slow",
        "--warmup=0",
        "--benchmark_min_time=60",
        "--max_case_seconds=0.8",
    )
    assert 6 <= row["samples"] <= 16


def test_interleaved_repetitions_are_all_there(trainbench: Program) -> None:
    found = rows(
        trainbench,
        *NANO,
        "--benchmark_filter=^model_size/nano/fp32/",
        "--benchmark_repetitions=3",
        "--benchmark_enable_random_interleaving=true",
    )
    keys = {(row["name"], row["repetition_index"]) for row in found}
    assert len(keys) == len(found) == 9
