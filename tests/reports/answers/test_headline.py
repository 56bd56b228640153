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


def test_what_ranks_cost_without_and_with_an_exchange() -> None:
    def ranks(strategy: str, us: float, shape: str, **counters: float) -> Any:
        words = f"strategy={strategy} model=tiny precision=fp32"
        name = f"ddp/{strategy}/tiny/fp32/{shape}/batch:1/seq:8"
        return entry(name, us, words, half_width=0.0, batch=1, seq=8, **counters)

    rows = [
        ranks("alone", 100, "ranks:1/as_one_of:2"),
        ranks("side_by_side", 120, "ranks:2"),
        ranks("side_by_side", 150, "ranks:4"),
        ranks("flat", 170, "ranks:2", exposed_us=50),
        ranks("flat", 180, "ranks:4", exposed_us=20),
        ranks("reducer", 160, "ranks:4", exposed_us=10),
    ]
    assert made(rows) == [
        "A step of `reducer tiny fp32 ranks:4 1 x 8` takes 160 us, 1.6 times a "
        "single rank's 100 us, side by side without exchanges 1.5 times; 10 us is "
        "exposed communication."
    ]
    assert made(rows[3:]) == []
    assert "side by side" not in made([rows[0], *rows[3:]])[0]


def test_a_null_gpu_has_bytes_alone() -> None:
    words = "model=tiny precision=fp32 mode=train_step"
    row = entry("memory/a", 0, words, peak_bytes=1024, predicted_peak_bytes=1024)
    assert made([row], context={"device_kind": "null_cuda"}) == [
        "A `tiny fp32 train_step` peaks at 1 KiB, predicted 1 KiB; all 1 "
        "predictions within 0 %."
    ]
