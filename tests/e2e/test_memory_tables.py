# SPDX-License-Identifier: MIT
"""The tensors of a step, in the result and in the timeline, on both devices."""

import csv

import pytest

from null_gpu import FLAGS, null_gpu
from program import Program, measured
from reports.results.result_file import parse


@pytest.mark.parametrize("on_gpu", [False, True], ids=["cpu", "null_gpu"])
def test_a_step_is_told_tensor_by_tensor(trainbench: Program, on_gpu: bool) -> None:
    document = trainbench.measure(
        *(FLAGS if on_gpu else ("--benchmark_min_time=0.001",)),
        *("--suite=smoke", "--benchmark_filter=^memory/", "--memory_trace=traces"),
        env=null_gpu() if on_gpu else None,
    )
    (row,) = measured(document)
    assert parse(document).memory[0].case == row["name"]
    (trace,) = (trainbench.directory / "traces").glob("*.csv")
    with trace.open() as lines:
        events = list(csv.DictReader(lines))
    check_steps(events)
    if not on_gpu:  # a separate thread may still hold memory
        ends = {event["step"]: event["live_bytes"] for event in events}
        assert len(set(ends.values())) == 1, "a step leaves as much as it found"


def test_what_checkpointing_would_take_is_what_it_takes(trainbench: Program) -> None:
    document = trainbench.measure(
        "--suite=smoke",
        "--benchmark_min_time=0.001",
        "--benchmark_filter=^(memory|checkpointing/every_1)/",
    )
    memory, checkpointed = measured(document)
    expected = ("predicted_peak_bytes", "recomputed_flops")
    found = ("checkpointed_peak_bytes", "checkpointed_flops")
    if checkpointed["name"].startswith("memory/"):
        memory, checkpointed = checkpointed, memory
    assert [memory[key] for key in found] == [checkpointed[key] for key in expected]


def check_steps(events: list[dict[str, str]]) -> None:
    assert {event["step"] for event in events} == {"1", "2", "3"}
    made = [event for event in events if event["event"] == "alloc"]
    assert {"ffn", "softmax", "lm_head"} <= {event["component"] for event in made}
    assert {"0", "1", "2", "3"} <= {event["layer"] for event in made}
