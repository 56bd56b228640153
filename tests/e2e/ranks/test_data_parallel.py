# SPDX-License-Identifier: MIT
"""Relations between the rows of an experiment with several ranks."""

import pytest

from program import NANO, Program, measured, without

# Two sizes of the all-reduce define a line, from which a step is predicted.
LINE = "^all_reduce/gloo/ranks:2/bytes:(1024|65536)$"


def test_strategies_send_the_same_and_differ_in_calls(trainbench: Program) -> None:
    document = trainbench.measure(
        *without(NANO, "--suite"), "--suite=full", f"--benchmark_filter={LINE}|^ddp/"
    )
    by_strategy = {
        f"{row['name'].split('/')[1]} {row.get('bucket_mb', '')}".strip(): row
        for row in measured(document)
        if row["name"].startswith("ddp/")
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
        assert {"scaling_efficiency", "strong_speedup"} <= row.keys()
        assert row["predicted_us"] == pytest.approx(
            side_by_side["p50_us"] + row["predicted_exposed_us"]
        )
    calls = {
        name: row.get("communication_calls", 0) for name, row in by_strategy.items()
    }
    tensors = calls["per_parameter"]
    assert tensors == calls["overlap_per_parameter"] > 10
    assert calls["flat"] == calls["overlap_bucketed 100.0"] == 1
    copied = {name: row.get("copied_bytes") for name, row in by_strategy.items()}
    assert copied["flat"] == 2 * 4 * alone["params"]
    assert copied["per_parameter"] == copied["overlap_per_parameter"] == 0
    predicted = by_strategy["overlap_predicted_bucket"]
    assert {name for name, row in by_strategy.items() if "bucket_bytes" in row} == {
        "overlap_predicted_bucket"
    }
    assert predicted["bucket_bytes"] > 0 and predicted["bucket_calls"] > 0
    assert calls["overlap_predicted_bucket"] == 0, "they follow from times"
    overlapped = {name for name, row in by_strategy.items() if row["overlapped"]}
    assert overlapped == set(calls) - {"per_parameter", "flat"}
