# SPDX-License-Identifier: MIT
"""The sentences with which a page opens and a run ends."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from paper_result import paper_rows
from reports.answers.headline import sentences
from reports.results.rows import load, parse
from results import REFERENCE, document, entry


def made(rows: Sequence[dict[str, Any]], **others: Any) -> list[str]:
    return sentences(parse(document(*rows, **others)))


def of(*experiments: str) -> list[dict[str, Any]]:
    return [row for row in paper_rows() if row["name"].split("/")[0] in experiments]


def test_they_are_five_and_short() -> None:
    found = sentences(load(REFERENCE))
    assert len(found) == 5
    assert sum(len(sentence.split()) for sentence in found) <= 150


@pytest.mark.parametrize(
    ("experiments", "numbers"),
    [
        (["breakdown"], ["60 % ± 1 %"]),
        (["precision"], ["0.25 (0.246 to 0.254) times"]),
        (["implementations"], ["0.5 ("]),
        ([], []),
    ],
)
def test_a_sentence_needs_its_rows(experiments: list[str], numbers: list[str]) -> None:
    found = [one for one in made(of(*experiments)) if "peaks at" not in one]
    assert len(found) == len(numbers)
    assert all(number in one for one, number in zip(found, numbers, strict=True))


def test_what_the_intervals_do_not_allow_is_not_said() -> None:
    for sentence in made(paper_rows(half_width=3)):
        assert not re.search(r"takes most|shortens `|lengthens `", sentence) or (
            "cannot be told" in sentence
        )


def test_a_step_has_its_parts() -> None:
    words = "model=tiny precision=fp32 mode=train_step"
    parts = {"forward_us": 30, "backward_us": 60, "optimizer_us": 10}
    row = entry("model_size/tiny", 100, words, batch=4, seq=128, flops=1, **parts)
    assert made([row]) == [
        "A `tiny fp32 train_step 4 x 128` takes 100 us: forward 30 us, backward 60 us, "
        "optimizer 10 us."
    ]


def test_a_null_gpu_has_bytes_alone() -> None:
    words = "model=tiny precision=fp32 mode=train_step"
    row = entry("memory/a", 0, words, peak_bytes=1024, predicted_peak_bytes=1024)
    assert made([row], context={"device_kind": "null_cuda"}) == [
        "A `tiny fp32 train_step` peaks at 1 KiB, predicted 1 KiB; of 1 predictions "
        "none is off by more than 0 %."
    ]
