# SPDX-License-Identifier: MIT
"""A page opens with what failed, what was disturbed, and where the time goes."""

import json
from pathlib import Path
from typing import Any

import pytest

from advised import PEAKS, part, whole
from advised import step as timed
from expected import expected
from paper_result import paper_rows
from reports.advice.advice import advice
from reports.answers.disturbed import reasons
from reports.pages.__main__ import main
from reports.pages.opening import Opening, opening
from reports.results.rows import Row, load, parse
from results import REFERENCE, document, entry


def opened(*rows: dict[str, Any], **others: Any) -> Opening:
    return opening(parse(document(*rows, **others)))


FAILED = expected("model_size", "p50_us", "at_most", 1, rows={"seq": "128"})
HELD = expected("model_size", "p50_us", "at_least", 1, rows={"seq": "128"})


def test_failed_expectations_come_first_on_both_pages(tmp_path: Path) -> None:
    needed = ("peak/", "model_size/", "breakdown/")
    rows = [row for row in paper_rows() if row["name"].startswith(needed)]
    words = "work=spin | noisy=12 % of the time stolen"
    noisy = entry("harness/spin/us:1", 5, words, us=1, cv=0.5)
    empty = entry("harness/empty", 5, "work=empty")
    content = document(*rows, noisy, empty, expectations=[HELD, FAILED])
    (tmp_path / "run.json").write_text(json.dumps(content))
    assert main([str(tmp_path / "run.json")]) == 0
    for name in ("run.html", "run.md"):
        text = (tmp_path / name).read_text()
        head = text[: text.index("Contents")]
        order = [
            "Of 2 expectations 1 failed, 1 held.",
            "at most 1 us",
            "1 of ",
            "12 % of the time stolen",
            "takes most",
            "farthest from its bound",
        ]
        places = [head.find(told) for told in order]
        assert places == sorted(places) and places[0] >= 0, places
        assert "at least 1 us" not in head, "what held is behind"
        assert "at least 1 us" in text[len(head) :]


def test_a_file_of_an_earlier_version_opens_without_expectations() -> None:
    made = opened(*paper_rows())
    assert made.expectations == "" and made.judged is None
    assert made.time != "" and made.gap != ""


def test_the_largest_gap_is_told_only_where_it_is_clear() -> None:
    def step(name: str, rate: float, half_width: float = 0.01) -> dict[str, Any]:
        return entry(
            f"model_size/{name}/fp32/train_step/seq:8",
            5,
            f"model={name} precision=fp32 mode=train_step",
            flops=1e12,
            bytes=1e6,
            flops_per_second=rate,
            half_width=half_width,
            forward_us=1,
            backward_us=2,
        )

    peaks = [row for row in paper_rows() if row["name"].startswith("peak/")]
    assert opened(*peaks, step("tiny", 1e11), step("small", 1e12)).gap == (
        "The largest gap to its bound: `model_size/tiny/fp32/train_step/seq:8` reaches "
        "5 % ± 1 % of what the measured peaks allow for its FLOPs and bytes."
    )
    # Of any experiment, not of the steps alone.
    op = step("tiny", 5e10) | {"name": "fused_ops/textbook/rms_norm/fp32/rows:8"}
    assert "`fused_ops/textbook/" in opened(*peaks, step("tiny", 1e11), op).gap
    gap = opened(*peaks, step("tiny", 1e11, 0.5), step("small", 1.1e11)).gap
    assert gap.startswith("Which row is farthest from its bound cannot be told from")
    assert gap.endswith(", and 1 other row may reach less.")
    assert opened(step("tiny", 1e11)).gap == "", "no peak, no bound"


def test_a_page_opens_with_what_would_help(tmp_path: Path) -> None:
    rows = [
        part("forward", "norm", 500, pass_bytes=1e6),
        *(part("backward", "norm", 500, pass_bytes=1e6), whole(1000)),
    ]
    made = opened(*PEAKS, *rows)
    assert made.help.startswith(
        "Of the changes to a step, fused norm would save most: 800 us of 1 ms"
    )
    assert made.changes is not None and made.changes.lines[0][0] == "fused norm"
    assert opened(*PEAKS[1:2]).help == "" and opened(*PEAKS[1:2]).changes is None
    (tmp_path / "run.json").write_text(json.dumps(document(*PEAKS, *rows)))
    assert main([str(tmp_path / "run.json")]) == 0
    html = (tmp_path / "run.html").read_text()
    head = html[: html.index('id="contents"')]
    assert "What would help" in head and '<a href="#advice">' in head
    assert "named by model, precision, mode, and batch x tokens" in head
    assert 'id="advice"' in html[len(head) :]
    assert "Headroom" not in head and "memory passes" in html
    markdown = (tmp_path / "run.md").read_text()
    assert "](#advice)" in markdown
    assert "named by model, precision, mode, and batch x tokens" in markdown
    assert '<td class="text">tiny fp32 train_step 4 x 128</td>' in head
    assert "<td>800 us</td>" in head


def test_the_opening_names_the_five_largest_changes() -> None:
    result = load(REFERENCE)
    changes = opening(result).changes
    assert changes is not None
    assert [line[0] for line in changes.lines] == [
        line.change for line in advice(result).lines[:5]
    ]


def test_a_change_that_costs_time_is_none_that_would_help() -> None:
    slower = (timed("precision", 1000), timed("precision", 1100, "bf16"))
    norm = part("forward", "norm", 500, pass_bytes=1e6)
    result = parse(document(*PEAKS, norm, whole(1000), *slower))
    assert [line.change for line in advice(result).lines] == [
        "fused norm",
        "bf16 weights",
    ]
    changes = opening(result).changes
    assert changes is not None
    assert [line[0] for line in changes.lines] == ["fused norm"]


@pytest.mark.parametrize(
    ("findings", "counters", "why"),
    [
        ({"overhead": "3 %"}, {"cv": 0.05}, []),
        ({}, {"cv": 0.3}, ["its samples vary by 30 %"]),
        ({"noisy": "12 % of the time stolen"}, {}, ["12 % of the time stolen"]),
        ({"clock": "throttled"}, {}, ["its clock was throttled"]),
        ({"trend": "-7 %"}, {}, ["its samples changed by -7 % from first to last"]),
        (
            {"warmup": "falling"},
            {},
            ["its calls still became faster when the warm-up ended"],
        ),
    ],
)
def test_a_row_says_what_disturbed_it(
    findings: dict[str, str], counters: dict[str, float], why: list[str]
) -> None:
    assert reasons(Row("a/b", 1, {}, findings, counters)) == why
