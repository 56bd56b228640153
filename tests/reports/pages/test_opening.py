# SPDX-License-Identifier: MIT
"""What a page says of its numbers, where the committed run has no example."""

from typing import Any

from advised import PEAKS, part, step, whole
from reports.answers.disturbed import reasons
from reports.pages.across import advice_section, roofline_section
from reports.results.rows import Row
from results import entry, parsed


def test_the_largest_gap_is_shown_where_it_is_clear() -> None:
    """Considers every experiment, not only steps."""

    def row(name: str, rate: float) -> dict[str, Any]:
        sizes = {"flops": 1e12, "bytes": 1e6, "flops_per_second": rate}
        return entry(name, 5, "precision=fp32", half_width=0.01, **sizes)

    peaks = (
        entry("peak/matmul/fp32/m:1", 5, "precision=fp32", flops_per_second=2e12),
        entry("peak/copy/size:1", 5, "work=copy", bytes_per_second=1e11),
    )
    rows = (row("model_size/tiny", 1e12), row("other/rms_norm", 1e11))
    (made,) = roofline_section(parsed(*peaks, *rows))
    assert (
        "`other/rms_norm` reaches 5 % ± 1 % of what the measured peaks allow"
        in made.sentence
    )


def test_a_change_that_costs_time_is_none_that_would_help() -> None:
    slower = (step("precision", 1000), step("precision", 1100, "bf16"))
    norm = part("forward", "norm", 500, pass_bytes=1e6)
    (made,) = advice_section(parsed(*PEAKS, norm, whole(1000), *slower))
    assert [line[0] for line in made.tables[0].lines] == ["fused norm"]
    assert [line[0] for line in made.details[0].lines] == ["fused norm", "bf16 weights"]


def test_a_row_says_what_disturbed_it() -> None:
    findings = {"overhead": "3 %", "clock": "throttled", "samples": "2", "wrong": "nan"}
    assert reasons(Row("a/b", 1, {}, findings, {"cv": 0.05})) == [
        "its result is wrong (nan)",
        "it has 2 samples",
        "its clock was throttled",
    ]
