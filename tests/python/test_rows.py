# SPDX-License-Identifier: MIT
"""Result files, read as typed rows."""

import json
from pathlib import Path
from typing import Any

import pytest
from reports.rows import NotAResult, load, parse

ENTRY = {
    "name": "e/tiny/fp32/seq:8",
    "run_type": "iteration",
    "real_time": 12.5,
    "time_unit": "us",
    "iterations": 1,
    "seq": 8.0,
    "label": "model=tiny precision=fp32 | largest=aten::div in loss, logits=fp32",
}
DOCUMENT: dict[str, Any] = {
    "context": {"device": "cpu", "num_cpus": 2},
    "benchmarks": [
        ENTRY,
        ENTRY | {"run_type": "aggregate", "name": "e/tiny/fp32/seq:8_mean"},
        ENTRY | {"name": "f/x", "label": "model=small"},
    ],
    "skipped": [{"name": "e/big", "reason": "does not fit"}],
    "errors": [{"name": "e/bad", "reason": "wrong"}],
    "complete": True,
}


def test_a_row_has_its_words_findings_and_counters() -> None:
    row = parse(DOCUMENT).rows[0]
    assert row.experiment == "e"
    assert row.time_us == 12.5
    assert row.words == {"model": "tiny", "precision": "fp32"}
    assert row.findings == {"largest": "aten::div in loss", "logits": "fp32"}
    assert row.counters == {"seq": 8.0}
    assert row["seq"] == 8 and row.get("missing") is None


def test_rows_are_chosen_by_experiment_and_words_and_aggregates_are_none() -> None:
    result = parse(DOCUMENT)
    assert [row.name for row in result.of("e")] == ["e/tiny/fp32/seq:8"]
    assert result.of("e", model="tiny") and not result.of("e", model="small")
    assert result.of("f")[0].findings == {}


def test_repetitions_are_one_row_with_the_medians() -> None:
    entries = [ENTRY | {"real_time": t, "seq": 2 * t} for t in (9.0, 1.0, 3.0)]
    entries[1]["rare"] = 5.0
    (row,) = parse(DOCUMENT | {"benchmarks": entries}).rows
    assert row.time_us == 3
    assert row.counters == {"seq": 6.0}


def test_what_has_no_number_keeps_its_reason() -> None:
    result = parse(DOCUMENT)
    assert (result.skipped[0].name, result.skipped[0].reason) == (
        "e/big",
        "does not fit",
    )
    assert result.errors[0].reason == "wrong"
    assert result.complete and not parse(DOCUMENT | {"complete": False}).complete
    assert result.context == {"device": "cpu", "num_cpus": "2"}


def damaged() -> list[tuple[str, str]]:
    text = json.dumps(DOCUMENT)
    return [
        ("empty", ""),
        ("truncated", text[: len(text) // 2]),
        ("a list", "[1]"),
        ("another tool's", '{"context": {}, "benchmarks": []}'),
        ("a row without time", text.replace("real_time", "reel_time")),
    ]


@pytest.mark.parametrize("text", [t for _, t in damaged()], ids=[n for n, _ in damaged()])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(NotAResult, match=r"a\.json: "):
        load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotAResult, match="nowhere"):
        load(tmp_path / "nowhere.json")
