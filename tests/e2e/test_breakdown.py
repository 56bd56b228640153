# SPDX-License-Identifier: MIT
"""The rows of a breakdown: several passes that add up, on a CPU and a null GPU."""

import json

import pytest

from null_gpu import FLAGS, null_gpu
from program import NANO, Json, Program, load, measured, without

STEP = "breakdown/nano/fp32/train_step"
ONLY = f"--benchmark_filter=^{STEP}/"
SHAPE = "batch:1/seq:8"
# Sums of other rows.
SUMS = ("all", "block", "timed")


def rows_of(trainbench: Program, *flags: str) -> dict[str, Json]:
    """By phase and component."""
    done = trainbench.run(*NANO, ONLY, "--benchmark_out=a.json", *flags)
    document = load(trainbench.directory / "a.json")
    assert done.code == 0, document["errors"]
    return {
        row["name"].removeprefix(f"{STEP}/").partition("/batch:")[0]: row
        for row in measured(document)
    }


def samples_of(trainbench: Program) -> dict[str, list[float]]:
    lines = (trainbench.directory / "s.jsonl").read_text().splitlines()
    return {line["name"]: line["samples_us"] for line in map(json.loads, lines)}


def test_in_each_pass_the_parts_are_the_step(trainbench: Program) -> None:
    rows = rows_of(trainbench, "--samples_out=s.jsonl")
    samples = samples_of(trainbench)
    whole = samples[f"{STEP}/step/all/{SHAPE}"]
    assert len(whole) == 6
    parts = [times for name, times in samples.items() if name.split("/")[5] not in SUMS]
    for index, step in enumerate(whole):
        assert sum(part[index] for part in parts) == pytest.approx(step, rel=1e-6)
    assert {"forward/dispatch", "backward/autograd", "optimizer/dispatch"} <= set(rows)
    assert all("half_width" in rows[f"forward/{part}"] for part in ("ffn", "all"))


def test_the_timed_step_stands_beside_the_profiled_one(trainbench: Program) -> None:
    rows = rows_of(trainbench)
    ratio = rows["step/all"]["real_time"] / rows["step/timed"]["real_time"]
    assert rows["step/all"]["time_ratio"] == pytest.approx(ratio, rel=1e-4)
    assert ("profile=" in rows["step/all"]["label"]) == (not 1 / 1.15 <= ratio <= 1.15)
    assert "time_ratio" not in rows["forward/all"]
    assert {"forward_us", "backward_us", "optimizer_us"} <= set(rows["step/timed"])


def test_what_disturbs_a_pass_is_said_once(trainbench: Program) -> None:
    rows = rows_of(trainbench)
    disturbed = {name for name, row in rows.items() if "preempted_share" in row}
    assert disturbed <= {"step/all", "step/timed"}


def test_the_number_of_samples_is_the_number_of_passes(trainbench: Program) -> None:
    rows = rows_of(trainbench, "--samples=7")
    assert {row["samples"] for row in rows.values()} == {7}


def test_an_injected_delay_reaches_every_part(trainbench: Program) -> None:
    """Ten times as long: no noise of a median of six is as large."""
    before = rows_of(trainbench)
    after = rows_of(trainbench, "--injected_delay_percent=1000")
    slower = [
        after[name]["real_time"] > 2 * before[name]["real_time"] for name in before
    ]
    # A row of microseconds may have been disturbed before.
    assert sum(slower) > 0.9 * len(slower)


def test_on_a_null_gpu_a_breakdown_has_its_counts(trainbench: Program) -> None:
    small = without(NANO, "--benchmark_min_time")
    done = trainbench.run(
        *FLAGS, *small, ONLY, "--benchmark_out=a.json", env=null_gpu()
    )
    document = load(trainbench.directory / "a.json")
    assert done.code == 0, document["errors"]
    rows = {row["name"]: row for row in measured(document)}
    step = rows[f"{STEP}/step/all/{SHAPE}"]
    assert step["kernels_per_step"] >= step["launches_per_step"] > 0
    assert step["calls"] >= step["kernels_per_step"]
    assert f"{STEP}/backward/gap/{SHAPE}" in rows
    assert f"{STEP}/step/timed/{SHAPE}" in rows
    for row in rows.values():
        assert row["real_time"] == 0
        assert not {"share", "profiled_step_us", "time_ratio"} & set(row), row["name"]
