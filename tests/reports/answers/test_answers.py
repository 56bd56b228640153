# SPDX-License-Identifier: MIT
"""The sentences and tables of the answers, from handmade rows."""

from pathlib import Path
from typing import Any

import pytest

from golden import check_golden
from reports.answers.answer import markdown
from reports.answers.main import main
from reports.answers.tables import phases_table
from reports.command import status_of
from reports.results.result_file import parse
from reports.results.rows import NotAResult
from results import REFERENCE, document, entry, expected, failure, parsed, write

PREDICTED = {"device_kind": "predicted_cuda"}


def sent(n: int, peak: float, predicted: float, sent: float) -> dict[str, Any]:
    sizes = {"peak_bytes": peak, "predicted_peak_bytes": predicted}
    return entry(f"fsdp/n:{n}", 5, "model=tiny", sent_bytes=sent, **sizes)


def precise(name: str, us: float, peak: float, error: float) -> dict[str, Any]:
    words = f"model=tiny precision={name} mode=train_step"
    counters = {"batch": 4, "seq": 128, "peak_bytes": peak, "logits_error": error}
    case = f"precision/tiny/{name}/train_step/batch:4/seq:128"
    return entry(case, us, words, half_width=0.02, **counters)


def test_what_is_printed() -> None:
    """Columns that are equal in all digits shown are merged; what was not measured is
    reported once, although two processes skipped it."""
    steps = [precise("fp32", 9e3, 4e6, 1e-7), precise("bf16", 5e3, 2e6, 1e-3)]
    same, failed = sent(1, 2**20, 2**20, 2**20), failure("a", "b")
    skipped = [failed, failed, failure("c", "b"), failure("c/d", "b; c")]
    skipped += [failure("c/e", "d"), failure("f/1", "no a/b"), failure("f/2", "no c")]
    skipped.append(failure("f/3", "no a/c"))
    wrong = entry("peak/x", 1, " | wrong=error 2 > 1")
    null = entry("transfer/alone", 0, "direction=memcpy", size=1, p50_us=3, bytes=2048)
    made = {
        "two precisions": document(*steps, skipped=[failure("graph/a", "no GPU; buy")]),
        "equal columns": document(same, sent(2, 4096, 4096, 8192)),
        "nearly equal columns": document(same, sent(2, 4096, 4097, 8192)),
        "other columns": document(same, sent(2, 4096, 8192, 512)),
        "nothing": document(wrong, skipped=skipped, errors=[failed], complete=False),
        "a null GPU": document(null, context={"device_kind": "null_cuda"}),
        "a shard": document(context={"shard": "1/2"}),
        "predicted times": document(context=PREDICTED),
    }
    for one in made.values():
        experiments = ("precision", "fsdp", "transfer")
        asked = {"question": "What?", "expect": "Nothing."}
        one["questions"] = [asked | {"experiment": name} for name in experiments]
    check_golden("answers.txt", {name: markdown(parse(made[name])) for name in made})


def test_the_loss_that_a_row_reached_is_no_dtype() -> None:
    forward = {f"forward_{name}_us": 1.0 for name in ("mean", "stddev", "min", "max")}
    made = phases_table(parsed(entry("a/b", 5, " | loss=fp32", loss=9, **forward)).rows)
    assert made is not None and made.lines[0][-1] == "9"


def test_the_table_of_the_committed_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--table", str(REFERENCE)]) == 0
    assert capsys.readouterr().out == REFERENCE.with_suffix(".txt").read_text()


def test_how_the_command_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def ran(content: dict[str, Any], *flags: str) -> tuple[int | None, str, str]:
        given = [*flags, str(write(tmp_path / "a.json", content))]
        return status_of("tools/answers", main, given), *capsys.readouterr()

    status, out, err = ran(document())
    assert (status, out) == (1, "") and "a.json has no rows" in err
    row = entry("harness/empty", 5, "work=empty", p50_us=5, half_width=0.01)
    bounds: list[tuple[str, float]] = [("at_least", 1), ("at_most", 2)]
    wanted = [expected("harness", "p50_us", *bound) for bound in bounds]
    status, out, _ = ran(document(row, expectations=wanted))
    assert status == 0 and out.startswith("### Expectations\n")
    idle = expected("harness", "no_such_counter", "at_most", 1)
    stated = document(row, expectations=[*wanted, idle])
    assert ran(stated, "--expectations")[:2] == (
        0,
        "harness: the p50_us of harness: failed; expected at most 2 us, measured 5 us "
        "(4.95 to 5.05 us) in empty\nOf 2 expectations 1 failed, 1 held.\n"
        "Expectations that apply to no row: harness (1).\n",
    )
    for expectations, is_listed in ((wanted, True), (wanted[:1], False)):
        _, out, _ = ran(document(row, expectations=expectations), "--summary")
        assert ("a.json lists what did not hold." in out) == is_listed
    assert ran(document(row), "--expectations")[:2] == (0, "")
    status, out, _ = ran(document(context=PREDICTED), "--summary")
    assert status == 0 and out.startswith("The times are predicted from rates")
    status, out, err = ran(document(entry("all_reduce/a", 5, "backend=gloo")))
    assert (status, out) == (2, "") and "lacks the counter bytes" in err
    with pytest.raises(NotAResult, match=r"nowhere\.json"):
        main([str(tmp_path / "nowhere.json")])
