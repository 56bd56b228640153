# SPDX-License-Identifier: MIT
"""The sentences and tables of the answers, from handmade rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from expected import expected
from golden import check_golden
from reports.answers.__main__ import main
from reports.answers.answer import answers, asked_of, markdown
from reports.experiments.specs import SPECS
from reports.results.rows import Asked, Result, load, parse
from results import REFERENCE, ROOT, document, entry, failure, write


def test_every_spec_has_an_experiment_and_each_of_those_a_question() -> None:
    experiments = {path.stem for path in (ROOT / "benchmarks").glob("*.cc")}
    assert set(SPECS) <= experiments
    for experiment in experiments:
        assert asked_of(experiment).question.endswith("?")


def test_a_question_is_that_of_the_run_where_it_says_it() -> None:
    asked = {"experiment": "peak", "question": "Then?", "expect": "So."}
    result = parse(document(questions=[asked]))
    assert asked_of("peak", result) == Asked("peak", "Then?", "So.")
    assert asked_of("harness", result) == asked_of("harness")
    assert asked_of("unheard_of", result) == Asked("unheard_of", "", "")


def test_an_expectation_is_the_whole_comment_on_one_line() -> None:
    comment = asked_of("accumulation").expect
    assert comment.startswith("1000 x 0.01 is 10. An fp32 sum is off by less than")
    assert comment.endswith("bf16 stops at 4, where half its spacing is 0.0156.")
    for experiment in SPECS:
        expectation = asked_of(experiment).expect
        assert "//" not in expectation
        assert expectation.endswith(".")


def test_a_result_without_rows_answers_nothing() -> None:
    assert answers(parse(document())) == []
    assert markdown(parse(document())) == ""


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
    skipped = [failed, failed, failure("c", "b")]
    null = entry("transfer/alone", 0, "direction=memcpy", size=1, p50_us=3, bytes=2048)
    made = {
        "two precisions": document(*steps, skipped=[failure("graph/a", "no GPU; buy")]),
        "equal columns": document(same, sent(2, 4096, 4096, 8192)),
        "nearly equal columns": document(same, sent(2, 4096, 4097, 8192)),
        "other columns": document(same, sent(2, 4096, 8192, 512)),
        "nothing": document(skipped=skipped, errors=[failed], complete=False),
        "a null GPU": document(null, context={"device_kind": "null_cuda"}),
    }
    for one in made.values():
        experiments = ("precision", "fsdp", "transfer")
        asked = {"question": "What?", "expect": "Nothing."}
        one["questions"] = [asked | {"experiment": name} for name in experiments]
    check_golden("answers.txt", {name: markdown(parse(made[name])) for name in made})


def test_all_rows_are_a_table_of_what_processes_have_between_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = {"forward_us": 30.0, "backward_us": 160.0, "mfu_measured": 0.5, "cv": 0.2}
    rows = [
        entry("model_size/tiny", us, "model=tiny", half_width=0.01, **step)
        | {"peak_bytes": 2048, "predicted_peak_bytes": 1024, "flops_per_second": 2e9}
        for us in (100, 101, 102, 200, 201, 202)
    ]
    rows.append(
        entry("peak/copy", 10, "work=copy | noisy=stolen, top=2", bytes_per_second=1e6)
    )
    content = document(*rows, context={"processes": "6"}, skipped=[failure("c", "d")])
    path = write(tmp_path / "a.json", content)
    assert main(["--table", str(path)]) == 0
    check_golden("rows.txt", {"six processes": capsys.readouterr().out})


def test_a_file_that_answers_nothing_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document()))
    assert main([str(path)]) == 1
    assert "a.json has no rows" in capsys.readouterr().err


def test_expectations_come_first_and_alone_where_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [entry("harness/empty", 5, "work=empty", p50_us=5, half_width=0.01)]
    content = document(
        *rows,
        expectations=[
            expected("harness", "p50_us", "at_least", 1),
            expected("harness", "p50_us", "at_most", 2),
        ],
    )
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    assert main([str(path)]) == 0, "expectations alone are something to tell"
    told = capsys.readouterr().out
    assert told.startswith(
        "### Expectations\n\nOf 2 expectations 1 failed, 1 held.\n\n"
    )
    assert told.index("at most 2 us") < told.index("at least 1 us")
    assert main(["--expectations", str(path)]) == 0
    assert capsys.readouterr().out == (
        "harness: the p50_us of harness: failed; expected at most 2 us, measured 5 us "
        "(4.95 to 5.05 us) in empty\n"
        "Of 2 expectations 1 failed, 1 held.\n"
    )
    path.write_text(json.dumps(document(*rows)))
    assert main(["--expectations", str(path)]) == 0
    assert capsys.readouterr().out == "", "a file of an earlier version"


@pytest.fixture(scope="module")
def reference() -> Result:
    return load(REFERENCE)


def test_the_reference_run_answers_every_question(reference: Result) -> None:
    asked = {row.experiment for row in reference.rows}
    assert {answer.name for answer in answers(reference)} == asked
    assert reference.errors == []


def test_bad_files_are_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "nowhere.json")]) == 2
    assert "nowhere.json" in capsys.readouterr().err
