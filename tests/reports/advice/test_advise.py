# SPDX-License-Identifier: MIT
"""The command: what it prints of the committed run, and of files that tell less."""

from pathlib import Path
from typing import Any

import pytest

from advised import PEAKS, Entry, op, part, step, whole
from reports.advice.__main__ import GOOD, NOTHING, USAGE, main
from reports.advice.advice import advice
from reports.answers.judging import Verdict
from reports.results.rows import load
from results import REFERENCE, document, entry, within, write


def ran(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *rows: Entry, **others: Any
) -> tuple[int, str, str]:
    status = main([str(write(tmp_path / "a.json", document(*rows, **others)))])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_committed_run_gives_advice_that_its_rows_confirm() -> None:
    lines = advice(load(REFERENCE)).lines
    assert len(lines) >= 5
    confirmed = [
        line.change
        for line in lines
        if line.judgement
        and any(found.verdict == Verdict.HELD for found in line.judgement.instances)
    ]
    assert len(confirmed) >= 2, confirmed
    names = {row.name for row in load(REFERENCE).rows}
    for line in lines:
        assert line.rows and set(line.rows) <= names, line.change
        assert {check.where for check in line.checks} <= names
        assert line.assumption


def test_the_largest_gain_is_first() -> None:
    gains = [line.saved_us.value for line in advice(load(REFERENCE)).lines]
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 0


def test_the_page_of_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = (
        *PEAKS,
        part("forward", "norm", 500, pass_bytes=1e6, compulsory_bytes=1e6),
        whole(1000),
        *(op("textbook", 500), op("fused", 260)),
    )
    status, out, err = ran(tmp_path, capsys, *rows)
    assert status == GOOD and err == ""
    assert out.startswith(
        "Of 1 prediction of time 1 held, 0 failed and 0 cannot be told. Of the changes "
        "to a step, fused norm would save most: 400 us of 1 ms in `tiny fp32 "
        "train_step 4 x 128`."
    )
    order = [
        "What would help; what is below 0 is a cost:",
        "| fused norm | 400 us | 40 % | - | no row to check it | tiny fp32",
        "| fused SwiGLU | 300 us | 60 % | - | 1 held | fused_ops/swiglu/textbook/tiny/",
        "Why:",
        "| fused norm | all but its products is one pass over memory, at the rate of a",
        "Predicted and measured:",
        "| fused SwiGLU | 300 us | 240 us | 0.8 | held | fused_ops/swiglu/fused/tiny/",
        "Headroom of tiny fp32 train_step 4 x 128:",
        "| forward norm | 500 us | 50 us | 450 us | 90 % | memory passes |",
    ]
    places = [out.find(told) for told in order]
    assert places == sorted(places) and places[0] > 0, places
    assert "lacks" not in out


def test_the_sentence_is_about_a_step_before_an_operation_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = (*PEAKS, op("textbook", 9000), op("fused", 500))
    _, out, _ = ran(tmp_path, capsys, *alone)
    assert out.startswith(
        "Of 1 prediction of time 1 held, 0 failed and 0 cannot be told. Of the changes "
        "to operations timed alone, fused SwiGLU would save most: 8.8 ms of 9 ms"
    )
    norm = part("forward", "norm", 500, pass_bytes=1e6, compulsory_bytes=1e6)
    _, out, _ = ran(tmp_path, capsys, *alone, norm, whole(1000))
    told = "Of the changes to a step, fused norm would save most: 400 us of 1 ms"
    assert told in out.partition("\n")[0]
    # The table keeps the largest first.
    assert 0 < out.find("| fused SwiGLU | 8.8 ms |") < out.find("| fused norm |")


def test_what_saves_most_is_said_only_if_the_intervals_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (
        *PEAKS,
        part("forward", "norm", 500, pass_bytes=1e6) | within(0.5, p50_us=500),
        part("forward", "rope", 400, pass_bytes=1e6),
        whole(1000),
    )
    _, out, _ = ran(tmp_path, capsys, *rows)
    assert out.startswith(
        "Which change to a step would save most cannot be told from this run: fused "
        "norm would save 400 us ± 65 % of 1 ms in `tiny fp32 train_step 4 x 128`, and "
        "fused RoPE may save more. Each line"
    )


def test_an_interval_that_is_wider_than_the_gain_shows_its_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (
        step("precision", 1000) | within(0.2, p50_us=1000),
        step("precision", 990, "bf16") | within(0.2, p50_us=990),
    )
    _, out, _ = ran(tmp_path, capsys, *rows)
    assert "| bf16 weights | 10 us (-2" in out


def test_what_the_run_lacks_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = (part("forward", "norm", 500), whole(1000))
    _, out, _ = ran(tmp_path, capsys, *rows)
    assert out.rstrip().endswith("no `peak/copy`: nothing about passes over memory.")
    assert "which an earlier version made" in out


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
    assert main([str(tmp_path / "none.json")]) == USAGE
    assert "none.json" in capsys.readouterr().err
    damaged = [
        row
        | {"parameters": {k: v for k, v in row["parameters"].items() if k != "model"}}
        for row in (part("forward", "norm", 500), whole(1000))
    ]
    status, _, err = ran(tmp_path, capsys, *damaged)
    assert status == USAGE
    assert "all/batch:4/seq:128 lacks the parameter model" in err
