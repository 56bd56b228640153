# SPDX-License-Identifier: MIT
"""How many warm-up calls are enough, as far as the samples tell."""

from typing import Any

from answered import answered
from results import entry


def case(
    calls: int, ratio: float, cv: float = 0.01, first: float = 5, seq: int = 32
) -> dict[str, Any]:
    return entry(
        f"warmup/tiny/fp32/train_step/batch:1/seq:{seq}/calls:{calls}",
        10,
        "model=tiny precision=fp32 mode=train_step",
        batch=1,
        seq=seq,
        calls=calls,
        samples=10,
        mean_us=10 * ratio,
        stddev_us=1,
        cv=cv,
        steady_cv=cv,
        first_call_us=50,
        first_ratio=first,
        steady_ratio=ratio,
    )


def test_quiet_samples_tell_the_calls_that_are_enough() -> None:
    sentence, table = answered(
        "warmup", case(0, 1.4), case(1, 1.08, first=4), case(2, 1.01)
    )
    assert "`tiny fp32 train_step 1 x 32` takes 4 to 5 times a steady one" in sentence
    assert "(3 processes)" in sentence
    assert "the mean of ten is 1.4 (" in sentence
    assert sentence.endswith("from 2 calls on it stays within 5 %.")
    assert table.count("\n") == 4


def test_a_warm_up_that_is_never_enough() -> None:
    sentence, _ = answered("warmup", case(0, 1.4), case(2, 1.2))
    assert sentence.endswith("2 calls are too few for 5 %.")


def test_no_warm_up_is_needed() -> None:
    sentence, _ = answered("warmup", case(0, 1.0), case(1, 0.99))
    assert sentence.endswith("from 0 calls on it stays within 5 %.")


def test_noise_alone_tells_no_number_of_calls() -> None:
    sentence, _ = answered(
        "warmup",
        case(0, 1.0005, cv=0.11),
        case(1, 0.989, cv=0.07),
        case(2, 1.109, cv=0.31),
        case(5, 0.958, cv=0.2),
    )
    assert "on it stays within" not in sentence
    assert "how many calls are enough cannot be told from this run" in sentence
    assert "after 2 calls it is 1.11 (" in sentence
    assert "runs would tell." in sentence


def test_steps_of_another_shape_are_lines_not_part_of_the_verdict() -> None:
    rows = [case(calls, 1.0) for calls in (0, 1)]
    others = [case(calls, 3.0, seq=512) for calls in (0, 1)]
    alone, _ = answered("warmup", *rows)
    sentence, table = answered("warmup", *rows, *others)
    assert sentence == alone
    assert "| tiny fp32 train_step 1 x 512, 0 |" in table
