# SPDX-License-Identifier: MIT
"""The rows of a breakdown: several passes that add up, on a CPU and a null GPU."""

import json

import pytest

from null_gpu import FLAGS, null_gpu
from program import NANO, Json, Program, load, measured, without

STEP = "breakdown/nano/fp32/train_step"
ONLY = f"--benchmark_filter=^{STEP}/"
SHAPE = "batch:1/seq:8"
# Rows that are sums of other rows.
SUMS = ("all", "block", "timed")


def rows_of(trainbench: Program, *flags: str) -> dict[str, Json]:
    """Returns the rows, keyed by phase and component."""
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
    assert all("p50_low_us" in rows[f"forward/{part}"] for part in ("ffn", "all"))


def test_the_timed_step_stands_beside_the_profiled_one(trainbench: Program) -> None:
    rows = rows_of(trainbench)
    ratio = rows["step/all"]["real_time"] / rows["step/timed"]["real_time"]
    assert rows["step/all"]["time_ratio"] == pytest.approx(ratio, rel=1e-4)
    differs = not 1 / 1.15 <= ratio <= 1.15
    # A single phase can differ, too.
    words = rows["step/all"]["findings"].get("profile", "")
    assert ("times the timed step" in words) == differs
    assert "time_ratio" not in rows["forward/all"]
    assert {"forward_us", "backward_us", "optimizer_us"} <= set(rows["step/timed"])


def times_printed(trainbench: Program, *flags: str) -> dict[str, float]:
    """Returns, by name, the times in the result file of the rows in the table."""
    flags = (*without(NANO, "--suite"), "--benchmark_out=a.json", *flags)
    done = trainbench.run(*flags)
    assert done.code == 0, done.err
    rows = {row["name"]: row for row in measured(load(trainbench.directory / "a.json"))}
    first_words = (line.partition(" ")[0] for line in done.out.splitlines())
    return {name: rows[name]["real_time"] for name in first_words if name in rows}


def test_quick_prints_the_step_its_phases_and_the_five_largest_parts(
    trainbench: Program,
) -> None:
    printed = times_printed(trainbench, ONLY, "--suite=quick")
    rows = measured(load(trainbench.directory / "a.json"))
    whole = {
        row["name"]
        for row in rows
        if row["parameters"]["component"] in ("all", "timed")
    }
    phases = {name.split("/")[4] for name in whole}
    assert phases == {"step", "forward", "loss", "backward", "optimizer"}
    parts = sorted(
        row["real_time"]
        for row in rows
        if row["parameters"]["component"] not in (*SUMS, "unattributed")
    )
    assert whole <= set(printed)
    assert sorted(printed[name] for name in set(printed) - whole) == parts[-5:]


def test_every_part_is_printed_that_is_asked_for(trainbench: Program) -> None:
    norms = f"--benchmark_filter=^{STEP}/(for|back)ward/norm/"
    assert len(times_printed(trainbench, norms, "--suite=quick")) == 2
    printed = times_printed(trainbench, ONLY, "--suite=full")
    assert len(printed) == len(measured(load(trainbench.directory / "a.json"))) > 30


def test_a_component_has_the_bytes_that_it_has_to_move(trainbench: Program) -> None:
    rows = rows_of(trainbench)
    norm, ffn = rows["forward/norm"], rows["forward/ffn"]
    assert norm["pass_bytes"] == norm["compulsory_bytes"] > 0
    assert ffn["pass_bytes"] > 0 and ffn["compulsory_bytes"] > 0
    assert "compulsory_bytes" not in rows["forward/all"]


def profile_of(trainbench: Program) -> Json:
    profiles: list[Json] = load(trainbench.directory / "a.json")["profiles"]
    (profile,) = profiles
    assert profile["case"] == f"{STEP}/step/all/{SHAPE}"
    assert profile["passes"] == 6
    return profile


def phases_and_names(profile: Json, table: str, name: str) -> set[tuple[str, str]]:
    return {(entry["phase"], entry[name]) for entry in profile[table]}


RANGES = {
    ("step", "all"),
    ("forward", "all"),
    ("forward", "attention"),
    ("forward", "causal_mask"),
    ("forward", "final_norm"),
    ("forward", "layer_0"),
    ("backward", "attention"),
    ("backward", "layer_0"),
    ("optimizer", "optimizer"),
}


def merge_of_heads(profile: Json) -> Json:
    """Returns the only copy for the output projection in the forward pass."""
    merges: list[Json] = [
        copies
        for copies in profile["copies"]
        if (copies["phase"], copies["component"]) == ("forward", "output_projection")
    ]
    (merge,) = merges
    # Batch 1 x 8 tokens x d_model 16 in fp32.
    assert (merge["count"], merge["bytes"]) == (1, 8 * 16 * 4)
    return merge


def test_the_operators_and_the_gaps_are_the_step(trainbench: Program) -> None:
    rows = rows_of(trainbench)
    profile = profile_of(trainbench)
    assert profile["of"] == "operators"
    total = sum(entry["time_us"]["total"] for entry in profile["kernels"])
    assert {len(entry["time_us"]["totals"]) for entry in profile["kernels"]} == {6}
    gaps = [name for name in rows if name.endswith(("/dispatch", "/autograd"))]
    total += sum(rows[name]["mean_us"] for name in gaps)
    assert total == pytest.approx(rows["step/all"]["mean_us"], rel=1e-3)
    families = {entry["name"]: entry["family"] for entry in profile["kernels"]}
    assert families["aten::mm"] == "gemm"
    assert families["aten::_fused_adamw_"] == "optimizer"


def test_ranges_and_copies_are_in_the_profile(trainbench: Program) -> None:
    rows_of(trainbench)
    profile = profile_of(trainbench)
    assert phases_and_names(profile, "ranges", "range") >= RANGES
    for span in profile["ranges"]:
        times = span["host_us"]
        assert 0 < times["min"] <= times["median"] <= times["max"]
        assert "device_us" not in span
        mean = times["mean"] / span["instances"]
        assert span["instance_us"]["mean"] == pytest.approx(mean, rel=1e-3)
    assert merge_of_heads(profile)["direction"] == "host to host"


def test_what_disturbs_a_pass_is_said_once(trainbench: Program) -> None:
    rows = rows_of(trainbench)
    disturbed = {name for name, row in rows.items() if "preempted_share" in row}
    assert disturbed <= {"step/all", "step/timed"}


def test_the_number_of_samples_is_the_number_of_passes(trainbench: Program) -> None:
    rows = rows_of(trainbench, "--samples=7")
    assert {row["samples"] for row in rows.values()} == {7}


def test_an_injected_delay_reaches_every_part(trainbench: Program) -> None:
    """Ten times as long, which exceeds the noise in a median of six."""
    before = rows_of(trainbench)
    after = rows_of(trainbench, "--injected_delay_percent=1000")
    slower = [
        after[name]["real_time"] > 2 * before[name]["real_time"] for name in before
    ]
    # A row of microseconds may have been disturbed in the first run.
    assert sum(slower) > 0.9 * len(slower)


def on_null_gpu(trainbench: Program, fault: str = "") -> Json:
    small = without(NANO, "--benchmark_min_time")
    env = null_gpu(fault=fault)
    trainbench.run(*FLAGS, *small, ONLY, "--benchmark_out=a.json", env=env)
    return load(trainbench.directory / "a.json")


def test_a_step_is_profiled_again_if_the_profiler_lost_kernels(
    trainbench: Program,
) -> None:
    document = on_null_gpu(trainbench, "kernel_record:3;kernel_record:300")
    assert document["errors"] == []
    document = on_null_gpu(trainbench, "kernel_record:*")
    assert document["errors"]
    assert all("its profile has 0:" in row["reason"] for row in document["errors"])


def test_on_a_null_gpu_a_breakdown_has_its_counts(trainbench: Program) -> None:
    document = on_null_gpu(trainbench)
    assert document["errors"] == []
    rows = {row["name"]: row for row in measured(document)}
    step = rows[f"{STEP}/step/all/{SHAPE}"]
    assert step["kernels_per_step"] >= step["launches_per_step"] > 0
    assert step["calls"] >= step["kernels_per_step"]
    assert f"{STEP}/backward/gap/{SHAPE}" in rows
    assert rows[f"{STEP}/forward/norm/{SHAPE}"]["pass_bytes"] > 0
    assert f"{STEP}/step/timed/{SHAPE}" in rows
    for row in rows.values():
        assert row["real_time"] == 0
        assert not {"share", "profiled_step_us", "time_ratio"} & set(row), row["name"]
    profile = profile_of(trainbench)
    assert profile["of"] == "kernels"
    assert phases_and_names(profile, "ranges", "range") >= RANGES
    assert merge_of_heads(profile)["direction"] == "device to device"
    kernels = [k for k in profile["kernels"] if not k["name"].startswith("Mem")]
    assert sum(k["instances"] for k in kernels) == step["kernels_per_step"]
    assert {"gemm", "elementwise", "optimizer"} <= {k["family"] for k in kernels}
    for time in ("time_us", "host_us", "device_us", "bytes_per_second"):
        assert f'"{time}"' not in json.dumps(profile)
