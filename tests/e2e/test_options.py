# SPDX-License-Identifier: MIT
"""Flags that decide how it is measured, as the context tells it."""

import pytest

from program import NANO, NANO_FORWARD, Program, without


@pytest.mark.parametrize("allocator", ["caching", "system"])
def test_the_allocator_is_in_the_context(trainbench: Program, allocator: str) -> None:
    document = trainbench.measure(*NANO_FORWARD, f"--cpu_allocator={allocator}")
    assert document["context"]["cpu_allocator"] == allocator


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
    flags = (*tiny, step, f"--suite={suite}", "--samples=1", *given)
    sampling = trainbench.measure(*flags)["context"]["sampling"]
    assert sampling.startswith(f"{seconds} ")
