# SPDX-License-Identifier: MIT
"""Relations between the rows of the distributed experiments."""

import pytest

from program import NANO, Json, Program, measured, without

# Two sizes of the all-reduce define a line, from which a step is predicted.
LINE = "^all_reduce/gloo/ranks:2/bytes:(1024|65536)$"


def rows_of(trainbench: Program, *flags: str, models: str = "nano") -> dict[str, Json]:
    nano = without(NANO, "--suite", "--models")
    document = trainbench.measure(*nano, f"--models={models}", "--suite=full", *flags)
    return {row["name"]: row for row in measured(document)}


def test_strategies_send_the_same_and_differ_in_calls(trainbench: Program) -> None:
    rows = rows_of(trainbench, f"--benchmark_filter={LINE}|^ddp/")
    by_strategy = {
        f"{name.split('/')[1]} {row.get('bucket_mb', '')}".strip(): row
        for name, row in rows.items()
        if name.startswith("ddp/")
    }
    alone = by_strategy.pop("alone")
    assert alone["ranks"] == 1 and alone["as_one_of"] == 2
    assert "communication_us" not in alone
    side_by_side = by_strategy.pop("side_by_side")
    assert (side_by_side["ranks"], side_by_side["communication_calls"]) == (2, 0)
    assert "communication_us" not in side_by_side
    whole = by_strategy.pop("whole_batch")
    assert (whole["ranks"], whole["instead_of"]) == (1, 2)
    assert whole["batch"] == 2 * alone["batch"]
    assert whole["threads_per_rank"] >= alone["threads_per_rank"]
    assert len(by_strategy) == 8
    for row in by_strategy.values():
        assert row["ranks"] == 2
        assert row["communication_bytes"] == 4 * row["params"]
        share = 1 - row["exposed_us"] / row["collectives_us"]
        assert row["overlap_share"] == pytest.approx(share, rel=1e-6)
        assert row["scaling_efficiency"] == pytest.approx(
            alone["p50_us"] / row["p50_us"]
        )
        assert row["strong_speedup"] == pytest.approx(whole["p50_us"] / row["p50_us"])
        assert row["predicted_us"] == pytest.approx(
            side_by_side["p50_us"] + row["predicted_exposed_us"]
        )
    calls = {name: row["communication_calls"] for name, row in by_strategy.items()}
    tensors = calls["per_parameter"]
    assert tensors == calls["overlap_per_parameter"] > 10
    assert calls["flat"] == calls["overlap_bucketed 100.0"] == 1
    copied = {name: row["copied_bytes"] for name, row in by_strategy.items()}
    assert copied["flat"] == 2 * 4 * alone["params"]
    assert copied["per_parameter"] == copied["overlap_per_parameter"] == 0
    predicted = by_strategy["overlap_predicted_bucket"]
    assert {name for name, row in by_strategy.items() if "bucket_bytes" in row} == {
        "overlap_predicted_bucket"
    }
    assert predicted["bucket_bytes"] > 0
    overlapped = {name for name, row in by_strategy.items() if row["overlapped"]}
    assert overlapped == set(calls) - {"per_parameter", "flat"}


def test_memory_is_as_predicted_and_the_state_is_divided(trainbench: Program) -> None:
    rows = rows_of(
        trainbench,
        "--benchmark_filter=^(sharded_optimizer/|ddp/(flat|.*bucket_mb:1/))",
        # The parameters are not divisible by 3; two are larger than a bucket.
        "--ranks=3",
        "--model=name=wide,d_model=32,d_ff=64,layers=2,heads=2,vocab=16384",
        models="wide",
    )
    assert len(rows) == 5
    for name, row in rows.items():
        predicted = row["predicted_peak_bytes"]
        assert row["peak_bytes"] == pytest.approx(predicted, rel=0.02), name
    by_kind = {
        name.split("/")[1]: row for name, row in rows.items() if name.startswith("s")
    }
    replicated = by_kind["replicated"]
    assert replicated["state_bytes"] == pytest.approx(
        8 * replicated["params"], rel=0.01
    )
    assert replicated["bytes"] == by_kind["broadcast"]["bytes"] + (
        # Reads parameter, gradient and both moments; writes all except the gradient.
        28 * replicated["params"] * (1 - 1 / 3)
    )
    for kind, part in (("sharded", 1 / 3), ("broadcast", 1 / 2)):
        row = by_kind[kind]
        # Two tensors, each half of all elements, cannot be divided by three.
        state = part * replicated["state_bytes"]
        assert row["state_bytes"] == pytest.approx(state, rel=0.05)
        saved = replicated["init_peak_bytes"] - row["init_peak_bytes"]
        # While sharded parameters move to their buffer, they exist twice.
        assert 0 < saved < 1.05 * (replicated["state_bytes"] - state)
        assert row["init_peak_bytes"] < row["before_step_peak_bytes"]
        assert row["step_peak_bytes"] <= row["before_step_peak_bytes"]
        # The whole step also has its inputs.
        assert row["before_step_peak_bytes"] == pytest.approx(
            row["peak_bytes"], rel=0.02
        )
