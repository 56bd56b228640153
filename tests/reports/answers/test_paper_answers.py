# SPDX-License-Identifier: MIT
"""Runs of many contexts, models and precisions, and runs without times."""

import pytest

from paper_result import COMPONENTS, SEQS, paper_rows
from reports.answers.answer import Answer, answers, markdown
from reports.answers.judging import Verdict, judgements
from reports.pages.page import page
from reports.results.rows import Result
from results import expected, parsed


@pytest.fixture(scope="module")
def paper() -> Result:
    return parsed(*paper_rows())


@pytest.fixture(scope="module")
def told(paper: Result) -> dict[str, Answer]:
    return {answer.name: answer for answer in answers(paper)}


def test_the_breakdown_is_one_table_of_one_step(told: dict[str, Answer]) -> None:
    answer = told["breakdown"]
    assert "`2.7B bf16_autocast train_step 4 x 1024`" in answer.sentence
    assert "`ffn` takes most, 60 % ± 1 % of the time" in answer.sentence
    (table,) = answer.tables
    assert {len(line) for line in table.lines} == {len(table.headings)}
    assert len(set(table.headings)) == len(table.headings)
    shown = [str(line[0]) for line in table.lines]
    assert [name for name in COMPONENTS if shown.count(name) != 1] == []


def test_an_expectation_is_judged_at_each_context_for_itself() -> None:
    made = expected(
        *("model_size", "p50_us", "about", 24, 0.1),
        rows={"model": "2.7B", "mode": "train_step"},
        versus={"model": "small"},
    )
    (judged,) = judgements(parsed(*paper_rows(), expectations=[made]))
    assert judged.verdict is Verdict.HELD
    assert len(judged.instances) == 2 * len(SEQS)


def test_the_page_of_a_paper_run_can_be_made(paper: Result) -> None:
    (roofline,) = (s for s in page(paper).sections if s.name == "roofline")
    assert "Which row is farthest from its bound cannot" in roofline.sentence


def test_every_line_is_of_one_case(paper: Result, told: dict[str, Answer]) -> None:
    keys = {"case", *(key for row in paper.rows for key in row.parameters)}
    for experiment, answer in told.items():
        if experiment == "breakdown":  # a line is a component
            continue
        for table in answer.tables:
            labels = [heading for heading in table.headings if heading in keys]
            lines = [tuple(line[: len(labels)]) for line in table.lines]
            assert len(set(lines)) == len(lines), (experiment, table.title)


def test_precisions_are_compared_at_one_context(told: dict[str, Answer]) -> None:
    assert (
        "In `2.7B train_step 4 x 1024`, over fp32: bf16_autocast takes 0.25 (0.246 to "
        "0.254) times the time" in told["precision"].sentence
    )


def test_attention_grows_at_one_head_size(told: dict[str, Answer]) -> None:
    growths = told["attention_scaling"].sentence.split("; ")
    assert all("d 16" in one or "d 64" in one or "d 128" in one for one in growths)
    assert all("as T^2.00 (" in one for one in growths if "`naive" in one)


def test_noise_alone_makes_no_comparative() -> None:
    noisy = parsed(*paper_rows(half_width=3))
    for answer in answers(noisy):
        for said in answer.sentence.split("; "):
            if " times the time" in said or "highest" in said:
                assert "cannot be told from this run" in said, answer


def test_a_run_without_times_is_held_to_its_bytes_only() -> None:
    rows = [
        {k: value for k, value in row.items() if "_us" not in k} | {"real_time": 0}
        for row in paper_rows()
    ]
    wanted = [
        expected("model_size", "peak_bytes", "at_most", 2e6),
        expected("model_size", "p50_us", "at_most", 1),
    ]
    context = {"device_kind": "null_cuda"}
    result = parsed(*rows, context=context, expectations=wanted)
    assert {answer.sentence for answer in answers(result)} == {""}
    text = markdown(result)
    assert "Of 1 expectation 0 failed, 1 held." in text and "p50_us" not in text
    made = page(result)
    assert made.closing["expectations"] == "Of 1 expectation 0 failed, 1 held."
    assert (made.closing["disturbed"], made.sentences, made.picture) == ("", [], None)
