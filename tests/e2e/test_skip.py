# SPDX-License-Identifier: MIT
"""A case that cannot run here is skipped with the reason, and the run succeeds."""

import re

from program import Program, load


def test_a_case_that_does_not_fit_is_skipped_with_its_prediction(
    trainbench: Program,
) -> None:
    # The scores alone have 4 heads x 2^40 elements.
    done = trainbench.run(
        "--seq=1048576",
        "--models=tiny",
        "--suite=smoke",
        "--benchmark_filter=^model_size/",
        "--benchmark_out=a.json",
    )
    assert done.code == 0, done.err
    document = load(trainbench.directory / "a.json")
    assert document["benchmarks"] == []
    assert document["errors"] == []
    assert document["complete"] is True
    assert len(document["skipped"]) == 6
    for entry in document["skipped"]:
        assert entry["predicted_peak_bytes"] > 4 * 2**40
        assert re.search(
            r"needs [\d.]+ GiB .*, [\d.]+ GiB of [\d.]+ GiB", entry["reason"]
        )
        line = next(
            ln for ln in done.out.splitlines() if ln.startswith(entry["name"] + " ")
        )
        assert "SKIPPED  needs " in line
    assert "6 cases: 0 measured, 6 skipped, 0 failed" in done.out


def test_the_reason_names_the_tensors_that_do_not_fit(trainbench: Program) -> None:
    done = trainbench.run(
        "--seq=1048576",
        "--suite=smoke",
        "--benchmark_filter=^attention_scaling/naive",
        "--benchmark_out=a.json",
    )
    assert done.code == 0, done.err
    reasons = [e["reason"] for e in load(trainbench.directory / "a.json")["skipped"]]
    assert len(reasons) == 2
    for reason in reasons:
        assert "; peak at aten::" in reason
        assert re.search(
            r"; largest tensors: \d+ x .+ in \w+, [\dx]+ \w+, [\d.]+ GiB$", reason
        ), reason
