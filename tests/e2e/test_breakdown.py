# SPDX-License-Identifier: MIT
"""The rows of a breakdown: several passes that add up, on a CPU and a null GPU."""

import json
from dataclasses import dataclass

import pytest

from null_gpu import FLAGS, null_gpu
from program import NANO, OUT, SAMPLES, Json, Program, measured, names, without

STEP = "breakdown/nano/fp32/train_step"
ONLY = f"--benchmark_filter=^{STEP}/"
SHAPE = "batch:1/seq:8"
PASSES = 7
# Rows that are sums of other rows.
SUMS = ("all", "block", "timed")


@dataclass(frozen=True)
class Run:
    document: Json
    samples: dict[str, list[float]]  # by name
    printed: list[str]  # names of the rows in the table

    @property
    def rows(self) -> dict[str, Json]:
        """The rows, keyed by phase and component."""
        return {
            row["name"].removeprefix(f"{STEP}/").partition("/batch:")[0]: row
            for row in measured(self.document)
        }


def run(trainbench: Program, *flags: str) -> Run:
    done = trainbench.run(*without(NANO, "--suite"), ONLY, OUT, SAMPLES, *flags)
    document = trainbench.result()
    samples = {line["name"]: line["samples_us"] for line in trainbench.samples()}
    known = set(names(measured(document)))
    first_words = (line.partition(" ")[0] for line in done.stdout.splitlines())
    return Run(document, samples, [name for name in first_words if name in known])


@pytest.fixture(scope="module")
def full(shared: Program) -> Run:
    return run(shared, "--suite=full", f"--samples={PASSES}")


def test_in_each_pass_the_parts_are_the_step(full: Run) -> None:
    whole = full.samples[f"{STEP}/step/all/{SHAPE}"]
    assert len(whole) == PASSES
    parts = [
        times for name, times in full.samples.items() if name.split("/")[5] not in SUMS
    ]
    for index, step in enumerate(whole):
        assert sum(part[index] for part in parts) == pytest.approx(step, rel=1e-6)
    rows = full.rows
    assert {row["samples"] for row in rows.values()} == {PASSES}
    assert {"forward/dispatch", "backward/autograd", "optimizer/dispatch"} <= set(rows)
    assert all("p50_low_us" in rows[f"forward/{part}"] for part in ("ffn", "all"))


def test_the_timed_step_stands_beside_the_profiled_one(full: Run) -> None:
    rows = full.rows
    ratio = rows["step/all"]["real_time"] / rows["step/timed"]["real_time"]
    assert rows["step/all"]["time_ratio"] == pytest.approx(ratio, rel=1e-4)
    differs = not 1 / 1.15 <= ratio <= 1.15
    # A single phase can differ, too.
    words = rows["step/all"]["findings"].get("profile", "")
    assert ("times the timed step" in words) == differs
    assert "time_ratio" not in rows["forward/all"]
    assert {"forward_us", "backward_us", "optimizer_us"} <= set(rows["step/timed"])


def test_full_prints_all_and_quick_the_phases_and_the_five_largest_parts(
    trainbench: Program, full: Run
) -> None:
    assert len(full.printed) == len(measured(full.document)) > 30
    quick = run(trainbench, "--suite=quick")
    rows = measured(quick.document)
    whole = {
        row["name"]
        for row in rows
        if row["parameters"]["component"] in ("all", "timed")
    }
    phases = {name.split("/")[4] for name in whole}
    assert phases == {"step", "forward", "loss", "backward", "optimizer"}
    assert whole <= set(quick.printed)
    parts = {
        row["name"]: row["real_time"]
        for row in rows
        if row["parameters"]["component"] not in (*SUMS, "unattributed")
    }
    printed = [parts[name] for name in set(quick.printed) - whole]
    assert sorted(printed) == sorted(parts.values())[-5:]


def profile_of(document: Json, passes: int) -> Json:
    profile: Json
    (profile,) = document["profiles"]
    assert profile["case"] == f"{STEP}/step/all/{SHAPE}"
    assert profile["passes"] == passes
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
    ("optimizer", "all"),
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


def test_the_operators_and_the_gaps_are_the_step(full: Run) -> None:
    rows, profile = full.rows, profile_of(full.document, PASSES)
    assert profile["of"] == "operators"
    total = sum(entry["time_us"]["total"] for entry in profile["kernels"])
    assert {len(entry["time_us"]["totals"]) for entry in profile["kernels"]} == {PASSES}
    gaps = [name for name in rows if name.endswith(("/dispatch", "/autograd"))]
    total += sum(rows[name]["mean_us"] for name in gaps)
    assert total == pytest.approx(rows["step/all"]["mean_us"], rel=1e-3)
    families = {entry["name"]: entry["family"] for entry in profile["kernels"]}
    assert families["aten::mm"] == "gemm"
    assert families["aten::_fused_adamw_"] == "optimizer"


def test_ranges_and_copies_are_in_the_profile(full: Run) -> None:
    profile = profile_of(full.document, PASSES)
    assert phases_and_names(profile, "ranges", "range") >= RANGES
    assert all("device_us" not in span for span in profile["ranges"])
    assert merge_of_heads(profile)["direction"] == "host to host"


def test_what_disturbs_a_pass_is_said_once(full: Run) -> None:
    disturbed = {name for name, row in full.rows.items() if "preempted_share" in row}
    assert disturbed <= {"step/all", "step/timed"}


def test_an_injected_delay_reaches_every_part(trainbench: Program, full: Run) -> None:
    """Ten times as long, which exceeds the noise in a median of a few."""
    before = full.rows
    after = run(trainbench, "--suite=full", "--injected_delay_percent=1000").rows
    slower = [
        after[name]["real_time"] > 2 * before[name]["real_time"] for name in before
    ]
    # A row of microseconds may have been disturbed in the first run.
    assert sum(slower) > 0.9 * len(slower)


def on_null_gpu(trainbench: Program, fault: str = "", code: int = 0) -> Json:
    small = without(NANO, "--benchmark_min_time")
    env = null_gpu(fault=fault)
    return trainbench.measure(*FLAGS, *small, ONLY, code=code, env=env)


def test_a_step_is_profiled_again_if_the_profiler_lost_kernels(
    trainbench: Program,
) -> None:
    document = on_null_gpu(trainbench, "kernel_record:3;kernel_record:300")
    assert document["errors"] == []
    document = on_null_gpu(trainbench, "kernel_record:*", code=1)
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
    profile = profile_of(document, 6)
    assert profile["of"] == "kernels"
    assert phases_and_names(profile, "ranges", "range") >= RANGES
    assert merge_of_heads(profile)["direction"] == "device to device"
    kernels = [k for k in profile["kernels"] if not k["name"].startswith("Mem")]
    assert sum(k["instances"] for k in kernels) == step["kernels_per_step"]
    assert {"gemm", "elementwise", "optimizer"} <= {k["family"] for k in kernels}
    for time in ("time_us", "host_us", "device_us", "bytes_per_second"):
        assert f'"{time}"' not in json.dumps(profile)
