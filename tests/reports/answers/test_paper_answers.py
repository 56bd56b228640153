# SPDX-License-Identifier: MIT
"""Runs of many contexts, models and precisions, and runs without times."""

import re

import pytest

from expected import expected
from paper_result import COMPONENTS, SEQS, paper_rows
from reports.answers import answers, markdown
from reports.answers.answer import Answer
from reports.answers.judging import Verdict, judgements
from reports.pages.page import page
from reports.results.rows import Result, parse
from results import document, entry

STEPS = (
    *("model_size", "precision", "warmup", "ddp", "sharded_optimizer"),
    *("implementations", "fused_ops"),
)


@pytest.fixture(scope="module")
def paper() -> Result:
    return parse(document(*paper_rows()))


@pytest.fixture(scope="module")
def told(paper: Result) -> dict[str, Answer]:
    return {answer.experiment: answer for answer in answers(paper)}


def test_models_are_compared_at_one_context(told: dict[str, Answer]) -> None:
    sentence = told["model_size"].sentence
    # 2.7B takes 24 times as long as small at each context, 192 times across them.
    assert sentence.startswith(
        "At 4 x 1024 in fp32 a `2.7B` train step has 24 times the FLOPs of a `small` "
        "one and takes 24 ("
    )


def test_precisions_are_compared_at_one_context(told: dict[str, Answer]) -> None:
    assert told["precision"].sentence.startswith(
        "In `2.7B train_step 4 x 1024` bf16_autocast has 4 (3.94 to 4.06) times the "
        "speed of fp32."
    )


def test_the_breakdown_is_one_table_of_one_step(told: dict[str, Answer]) -> None:
    answer = told["breakdown"]
    assert "`2.7B bf16_autocast train_step 4 x 1024`" in answer.sentence
    assert "`ffn` takes most, 60 % ± 1 % of the time" in answer.sentence
    widths = {len(line) for line in answer.table.lines}
    assert widths == {len(answer.table.headings)}
    assert len(set(answer.table.headings)) == len(answer.table.headings)
    shown = [str(line[0]) for line in answer.table.lines]
    assert [name for name in COMPONENTS if shown.count(name) != 1] == []


def test_attention_grows_at_one_head_size_and_precision(
    told: dict[str, Answer],
) -> None:
    sentence = told["attention_scaling"].sentence
    assert sentence.startswith("Forward in fp32, batch 8, d 16, T 256 to 4096: naive's")
    assert sentence.count("T^2.00 (") == 2 and sentence.count("naive") == 1


def test_implementations_are_told_of_few_steps(told: dict[str, Answer]) -> None:
    sentence = told["implementations"].sentence
    assert [part.partition("`")[0] for part in sentence.split("In `")[1:]] == [
        f"{model} {precision} forward_backward 4 x 1024"
        for precision in ("fp32", "bf16_autocast")
        for model in ("small", "2.7B")
    ]
    assert sentence.count("fused takes 0.5 (") == 4
    sentence = told["fused_ops"].sentence
    assert sentence.count("In `") == 2 and "In `2.7B fp32 4 x 1024` fused" in sentence
    sentence = told["flash_attention"].sentence
    assert sentence.count("Ours in") == 2
    assert "in fp32 at T 1024, 1 head, d 64: forward" in sentence


def test_ranks_are_compared_with_as_many(told: dict[str, Answer]) -> None:
    assert told["ddp"].sentence.startswith(
        "With 2.7B bf16_autocast, 6 ranks, 4 x 128 the fastest is reducer"
    )
    assert "`per_parameter` takes 1.5 (" in told["ddp"].sentence
    assert "`2.7B` over 6 ranks, 4 x 128, takes 1.2 (" in (
        told["sharded_optimizer"].sentence
    )


def test_every_line_about_a_step_states_its_shape(told: dict[str, Answer]) -> None:
    for experiment in STEPS:
        for line in told[experiment].table.lines:
            assert re.search(r"\b4 x \d+", str(line[0])), (experiment, line[0])
        columns = 1 + (told[experiment].table.headings[1] == "implementation")
        firsts = [tuple(line[:columns]) for line in told[experiment].table.lines]
        assert len(set(firsts)) == len(firsts), "two rows have one label"
    for line in told["attention_scaling"].table.lines:
        assert "batch 8, d " in str(line[0])


def test_an_expectation_is_judged_at_each_context_for_itself() -> None:
    made = expected(
        *("model_size", "p50_us", "about", 24, 0.1),
        rows={"model": "2.7B", "mode": "train_step"},
        versus={"model": "small"},
    )
    (judged,) = judgements(parse(document(*paper_rows(), expectations=[made])))
    assert judged.verdict is Verdict.HELD
    assert len(judged.instances) == 2 * len(SEQS)


def test_the_page_of_a_paper_run_can_be_made(paper: Result) -> None:
    (roofline,) = (s for s in page([paper]).sections if s.name == "roofline")
    assert "Which row is farthest from its bound cannot" in roofline.answer


def test_noise_alone_tells_nothing() -> None:
    noisy = parse(document(*paper_rows(half_width=3)))
    for answer in answers(noisy):
        if answer.experiment != "breakdown":
            assert "cannot be told from this run" in answer.sentence, answer
        assert "fastest is" not in answer.sentence


def test_a_run_without_times_is_held_to_its_bytes_only() -> None:
    rows = [
        entry(
            row["name"],
            0,
            " ".join(f"{key}={word}" for key, word in row["parameters"].items()),
            **{k: row[k] for k in ("peak_bytes", "batch", "seq", "flops") if k in row},
        )
        for row in paper_rows()
    ]
    kept = expected("model_size", "peak_bytes", "at_most", 2e6)
    timed = expected("model_size", "p50_us", "at_most", 1)
    result = parse(
        document(
            *rows, context={"device_kind": "null_cuda"}, expectations=[kept, timed]
        )
    )
    assert answers(result) == []
    text = markdown(result)
    assert "Of 1 expectation 0 failed, 1 held." in text and "p50_us" not in text
    made = page([result])
    assert made.closing.expectations == "Of 1 expectation 0 failed, 1 held."
    assert (made.closing.disturbed, made.sentences, made.picture) == ("", [], None)
