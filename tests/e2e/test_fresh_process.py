# SPDX-License-Identifier: MIT
"""Cases that run in separate processes."""

import pytest

from program import FAST, NANO, SAMPLES, Program, measured, names


def test_every_repetition_has_a_process_of_its_own(faults: Program) -> None:
    cases = "--benchmark_filter=/(fresh_good|good)/n:0$"
    document = faults.measure(cases, "--benchmark_repetitions=3", SAMPLES, *FAST)
    assert [row["samples"] > 0 for row in measured(document)] == [True] * 6
    lines = faults.samples()
    fresh = [line["process_id"] for line in lines if "fresh" in line["name"]]
    own = {line["process_id"] for line in lines if "fresh" not in line["name"]}
    assert len(set(fresh)) == 3
    assert len(own) == 1 and own.isdisjoint(fresh)


def test_a_child_that_fails_is_an_error_row_with_its_last_words(
    faults: Program,
) -> None:
    cases = "--benchmark_filter=/(fresh_(good|wrong|terminates|exits)/n:0|good)"
    document = faults.measure(cases, *FAST, code=1)
    reasons = {row["name"]: row["reason"] for row in document["errors"]}
    assert "wrong result: c[0] is 3" in reasons["fault/fresh_wrong/n:0"]
    assert "signal 6" in reasons["fault/fresh_terminates/n:0"]
    assert "nobody catches this" in reasons["fault/fresh_terminates/n:0"]
    assert "status 7; last words: cannot go on" in reasons["fault/fresh_exits/n:0"]
    assert len(reasons) == 3
    assert names(measured(document)) == [
        "fault/good/n:0",
        "fault/fresh_good/n:0",
        "fault/good/n:1",
    ]


def test_a_child_that_takes_too_long_is_ended(faults: Program) -> None:
    # It would sleep for an hour, so a busy machine makes no difference.
    cases = "--benchmark_filter=/(fresh_hangs|good)"
    document = faults.measure(cases, "--child_timeout_seconds=2", *FAST, code=1)
    (error,) = document["errors"]
    assert error["name"] == "fault/fresh_hangs/n:0"
    assert "longer than 2 s" in error["reason"]
    assert names(measured(document)) == ["fault/good/n:0", "fault/good/n:1"]


def test_a_cold_start_is_measured_in_a_process_that_warms_nothing(
    trainbench: Program,
) -> None:
    document = trainbench.measure(*NANO, "--benchmark_filter=^warmup/", SAMPLES)
    rows = {row["calls"]: row for row in measured(document)}
    assert set(rows) == {0, 1}
    ratio = rows[0]["first_call_us"] / rows[0]["steady_us"]
    assert rows[0]["first_ratio"] == pytest.approx(ratio)
    lines = {line["name"]: line for line in trainbench.samples()}
    assert len({line["process_id"] for line in lines.values()}) == 2
    cold = lines["warmup/nano/fp32/train_step/batch:1/seq:8/calls:0"]
    assert len(cold["samples_us"]) == 10 and cold["warmup_us"] == []
    assert cold["samples_us"][0] == cold["first_call_us"]
    warm = lines["warmup/nano/fp32/train_step/batch:1/seq:8/calls:1"]
    assert len(warm["samples_us"]) == 10 and len(warm["warmup_us"]) == 1
