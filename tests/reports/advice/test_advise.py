# SPDX-License-Identifier: MIT
"""The command: its output, and what it says of less complete files."""

from pathlib import Path
from typing import Any

import pytest

from advised import PEAKS, Entry, op, part, step, whole
from golden import check_golden
from reports.advice.line import gained
from reports.advice.main import GOOD, NOTHING, main
from reports.command import status_of
from reports.results.rows import NotAResult, Row, Turns
from results import document, entry, within, write


def ran(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *rows: Entry, **others: Any
) -> tuple[int | None, str, str]:
    path = write(tmp_path / "a.json", document(*rows, **others))
    status = status_of("tools/advise", main, [str(path)])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_page_of_each_kind_of_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = {"pass_bytes": 1e6, "compulsory_bytes": 1e6}
    norm = part("forward", "norm", 500, **moved)
    alone = (*PEAKS, op("textbook", 9000), op("fused", 500))
    kinds: dict[str, tuple[Entry, ...]] = {
        "a step and an operation of it": (
            *(*PEAKS, norm, whole(1000)),
            *(op("textbook", 500), op("fused", 260)),
        ),
        "an operation alone": alone,
        "a step before an operation alone": (*alone, norm, whole(1000)),
        "an interval that is wider than the gain": (
            step("precision", 1000) | within(0.2, p50_us=1000),
            step("precision", 990, "bf16") | within(0.2, p50_us=990),
        ),
        "a change that costs time": (
            *(step("precision", 1000), step("precision", 1300, "bf16")),
        ),
        "a larger gain that is refuted": (
            *(*PEAKS, norm, part("forward", "ffn", 5000, **moved), whole(9000)),
            *(op("textbook", 500), op("fused", 490)),
        ),
        "a step without peaks and bytes": (part("forward", "norm", 500), whole(1000)),
    }
    printed = {}
    for name, rows in kinds.items():
        status, printed[name], err = ran(tmp_path, capsys, *rows)
        assert (status, err) == (GOOD, "")
    check_golden("advice.txt", printed)


def test_a_run_without_advice_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = ran(tmp_path, capsys, entry("harness/empty", 1))
    assert (status, out) == (NOTHING, "")
    assert "gives no advice: no train step of `breakdown`" in err
    null = {"context": {"device_kind": "null_cuda"}}
    status, out, err = ran(
        tmp_path, capsys, part("forward", "norm", 0), whole(0), **null
    )
    assert (status, out) == (NOTHING, "")
    assert "a null GPU has no times" in err


def test_a_damaged_result_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NotAResult, match=r"none\.json"):
        main([str(tmp_path / "none.json")])
    damaged = [
        row
        | {"parameters": {k: v for k, v in row["parameters"].items() if k != "model"}}
        for row in (part("forward", "norm", 500), whole(1000))
    ]
    status, _, err = ran(tmp_path, capsys, *damaged)
    assert status == 2
    assert "all/batch:4/seq:128 lacks the parameter model" in err


def test_what_disturbs_rows_in_turns_does_not_disturb_their_difference() -> None:
    def row(name: str, low: float, high: float) -> Row:
        us = (low + high) / 2
        counters = {"p50_us": us, "p50_low_us": low, "p50_high_us": high}
        turns = Turns(name, "f", (low, high) * 10)
        return Row(name, us, {}, {}, counters, turns=turns)

    gain = gained(row("slow", 80, 120), row("fast", 20, 30))
    assert (gain.value, gain.low, gain.high) == pytest.approx((75, 75, 75))
