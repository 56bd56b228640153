# SPDX-License-Identifier: MIT
"""A page opens with numbers and useful changes, and ends with what is uncertain."""

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
from reports.answers.headline import sentences
from reports.pages.__main__ import main
from reports.pages.across import advice_section
from reports.pages.page import page
from reports.pages.section import Section
from reports.results.rows import Row, load, parse
from results import REFERENCE, document, entry, failure


def section(name: str, *rows: dict[str, Any]) -> Section:
    (found,) = (s for s in page([parse(document(*rows))]).sections if s.name == name)
    return found


FAILED = expected("model_size", "p50_us", "at_most", 1, rows={"seq": "128"})
HELD = expected("model_size", "p50_us", "at_least", 1, rows={"seq": "128"})


def test_numbers_come_first_and_doubts_last(tmp_path: Path) -> None:
    needed = ("peak/", "model_size/", "breakdown/")
    rows = [row for row in paper_rows() if row["name"].startswith(needed)]
    words = "work=spin | noisy=12 % of the time stolen"
    noisy = entry("harness/spin/us:1", 5, words, us=1, cv=0.5)
    empty = entry("harness/empty", 5, "work=empty")
    skipped = [failure(f"compiled/{n}", "no package") for n in range(2)]
    content = document(
        *rows, noisy, empty, expectations=[HELD, FAILED], skipped=skipped
    )
    (tmp_path / "run.json").write_text(json.dumps(content))
    assert main([str(tmp_path / "run.json")]) == 0
    order = [
        "takes most of it",
        "farthest from its bound",
        "Of 2 expectations 1 failed, 1 held.",
        "at most 1 us",
        "1 of ",
        "2 cases skipped: 2 of",
    ]
    for name in ("run.html", "run.md"):
        text = (tmp_path / name).read_text()
        places = [text.find(words) for words in order]
        assert places == sorted(places) and places[0] >= 0, places
        assert text.count("no package") == (1 if name == "run.md" else 3)
    assert "at least 1 us" in (tmp_path / "run.html").read_text()
    assert "at least 1 us" not in (tmp_path / "run.md").read_text()


def test_the_first_words_of_the_page_are_the_last_of_a_run() -> None:
    made = page([load(REFERENCE)])
    assert made.sentences == sentences(load(REFERENCE))
    assert made.picture is not None and "textbook" in made.picture.description


def test_the_largest_gap_is_shown_only_where_it_is_clear() -> None:
    def step(name: str, rate: float, half_width: float = 0.01) -> dict[str, Any]:
        sizes = {"flops": 1e12, "bytes": 1e6, "flops_per_second": rate}
        words = f"model={name} precision=fp32 mode=train_step"
        case = f"model_size/{name}/fp32/train_step/seq:8"
        return entry(case, 5, words, half_width=half_width, forward_us=1, **sizes)

    peaks = [row for row in paper_rows() if row["name"].startswith("peak/")]

    def gap(*rows: dict[str, Any]) -> str:
        return section("roofline", *peaks, *rows).sentence

    assert (
        "`model_size/tiny/fp32/train_step/seq:8` reaches 5 % ± 1 % of what the "
        "measured peaks allow" in gap(step("tiny", 1e11), step("small", 1e12))
    )
    # Considers every experiment, not only steps.
    op = step("tiny", 5e10) | {"name": "other/textbook/rms_norm/fp32/rows:8"}
    assert "`other/textbook/" in gap(step("tiny", 1e11), op)
    unclear = gap(step("tiny", 1e11, 0.5), step("small", 1.1e11))
    assert unclear.endswith(", and 1 other row may reach less.")


def test_what_would_help_comes_before_the_experiments() -> None:
    result = load(REFERENCE)
    first = page([result]).sections[0]
    assert first.name == "advice"
    assert [line[0] for line in first.tables[0].lines] == [
        line.change for line in advice(result).lines[:5]
    ]


def test_a_change_that_costs_time_is_none_that_would_help() -> None:
    slower = (timed("precision", 1000), timed("precision", 1100, "bf16"))
    norm = part("forward", "norm", 500, pass_bytes=1e6)
    (made,) = advice_section(parse(document(*PEAKS, norm, whole(1000), *slower)))
    assert [line[0] for line in made.tables[0].lines] == ["fused norm"]
    assert [line[0] for line in made.details[0].lines] == ["fused norm", "bf16 weights"]


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
