# SPDX-License-Identifier: MIT
"""The sentences and tables of the answers, from rows made by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from expected import expected
from golden import check_golden
from reports.answers import answers, markdown
from reports.answers.__main__ import main
from reports.answers.answer import expectation_of, question_of
from reports.experiments import known
from reports.results.rows import Result, load, parse
from results import REFERENCE, ROOT, document, entry, failure, write


def test_every_module_has_an_experiment_and_each_of_those_a_question() -> None:
    experiments = {path.stem for path in (ROOT / "benchmarks").glob("*.cc")}
    assert set(known()) <= experiments
    for experiment in experiments:
        assert question_of(experiment).endswith("?")


def test_a_question_is_that_of_the_run_where_it_says_it() -> None:
    result = parse(
        document()
        | {"questions": [{"experiment": "peak", "question": "Then?", "expect": "So."}]}
    )
    assert question_of("peak", result) == "Then?"
    assert expectation_of("peak", result) == "So."
    assert question_of("harness", result) == question_of("harness")
    assert question_of("unheard_of", result) == ""


def test_an_expectation_is_the_whole_comment_on_one_line() -> None:
    comment = expectation_of("accumulation")
    assert comment.startswith("1000 x 0.01 is 10. fp32 rounds each sum below 16 by")
    assert comment.endswith("bf16 stops at 4, where half of its spacing is 0.0156.")
    for experiment in known():
        assert "//" not in expectation_of(experiment)
        assert expectation_of(experiment).endswith(".")


def test_a_result_without_rows_answers_nothing() -> None:
    assert answers(parse(document())) == []
    assert markdown(parse(document())) == ""


def test_equal_columns_are_one() -> None:
    def row(n: int, peak: float, predicted: float, sent: float) -> dict[str, Any]:
        sizes = {"peak_bytes": peak, "predicted_peak_bytes": predicted}
        return entry(f"fsdp/n:{n}", 5, "model=tiny", sent_bytes=sent, **sizes)

    def headings(*rows: dict[str, Any]) -> list[str]:
        ((table, *_), *_) = (
            answer.tables for answer in answers(parse(document(*rows)))
        )
        return list(table.headings)[-3:]

    same = row(1, 2**20, 2**20, 2**20)
    assert headings(same, row(2, 4096, 4096, 8192)) == [
        *("/ optimizer reshard:0 prefetch:0", "sent", "predicted peak = peak")
    ]
    # Another digit than those that are shown.
    assert headings(same, row(2, 4096, 4097, 8192)) == [
        *("/ optimizer reshard:0 prefetch:0", "sent", "predicted peak ≈ peak")
    ]
    assert headings(same, row(2, 4096, 8192, 512)) == [
        *("sent", "predicted peak", "peak")
    ]


def test_all_rows_are_a_table_of_what_processes_have_between_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = {"forward_us": 30.0, "backward_us": 60.0, "mfu_measured": 0.5, "cv": 0.2}
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


def test_what_was_not_measured_is_said() -> None:
    failed = [failure("a", "b")]
    # Two processes skipped the same case.
    skipped = [*failed, *failed, failure("c", "b")]
    result = parse(document(skipped=skipped, errors=failed, complete=False))
    assert markdown(result) == (
        "2 cases skipped: 1 of `a` (b), 1 of `c` (b).\n\n1 case failed.\n\n"
        "The run was stopped early."
    )


def test_a_file_that_answers_nothing_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document()))
    assert main([str(path)]) == 1
    assert "a.json has no rows" in capsys.readouterr().err


def test_a_null_gpu_has_its_exact_counters_alone() -> None:
    row = entry("transfer/alone", 0, "direction=memcpy", size=1, p50_us=3, bytes=2048)
    (answer,) = answers(parse(document(row, context={"device_kind": "null_cuda"})))
    assert answer.sentence == ""
    (table,) = answer.tables
    assert (table.headings, table.lines) == (
        ["case", "bytes"],
        [[row["name"], "2 KiB"]],
    )


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
        "(4.95 us to 5.05 us) in empty\n"
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
    assert {answer.experiment for answer in answers(reference)} == asked
    assert reference.errors == []


def test_bad_files_are_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "nowhere.json")]) == 2
    assert "nowhere.json" in capsys.readouterr().err
