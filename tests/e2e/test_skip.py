# SPDX-License-Identifier: MIT
"""A case that cannot run here is skipped with the reason, and the run succeeds."""

import re

from program import OUT, Program


def test_a_case_that_does_not_fit_is_skipped_with_its_prediction(
    trainbench: Program,
) -> None:
    done = trainbench.run(
        "--seq=1048576",
        "--suite=smoke",
        "--benchmark_filter=^attention_scaling/naive",
        OUT,
    )
    document = trainbench.result()
    assert document["benchmarks"] == document["errors"] == []
    assert document["complete"] is True
    assert len(document["skipped"]) == 2
    for entry in document["skipped"]:
        # A head's scores alone have 2^40 elements.
        assert entry["predicted_peak_bytes"] > 4 * 2**40
        assert re.fullmatch(
            r"needs [\d.]+ GiB .*, [\d.]+ GiB of [\d.]+ GiB are free; peak at aten::.*"
            r"; largest tensors: \d+ x .+ in \w+, [\dx]+ \w+, [\d.]+ GiB",
            entry["reason"],
        ), entry["reason"]
        assert f"{entry['name']} " in done.out
    assert done.out.count("SKIPPED  needs ") == 2
    assert "2 cases: 0 measured, 2 skipped, 0 failed" in done.out
