# SPDX-License-Identifier: MIT
"""Expectations that hold, fail, or cannot be told."""

from typing import Any

import pytest

from expected import expected
from reports.answers.expectations import expected_text, line_of, summary, table
from reports.answers.judging import Judgement, Verdict, judgements
from reports.results.rows import parse
from results import document, entry


def step(model: str, us: float, half_width: float = 0.01, **more: float) -> Any:
    return entry(
        f"model_size/{model}/fp32/train_step/batch:4/seq:{int(more.get('seq', 128))}",
        us,
        f"model={model} precision=fp32 mode=train_step",
        **({"p50_us": us, "half_width": half_width, "batch": 4, "seq": 128} | more),
    )


def judged(expectation: dict[str, Any], *rows: dict[str, Any]) -> Judgement:
    (found,) = judgements(parse(document(*rows, expectations=[expectation])))
    return found


@pytest.mark.parametrize(
    ("backward", "half_width", "verdict"),
    [
        (200, 0.01, Verdict.HELD),
        (300, 0.01, Verdict.FAILED),
        (300, 0.5, Verdict.CANNOT_TELL),  # noise alone
        (200, 0.5, Verdict.CANNOT_TELL),
    ],
)
def test_the_ratio_of_two_counters(
    backward: float, half_width: float, verdict: Verdict
) -> None:
    found = judged(
        expected("model_size", "backward_us", "about", 2, 0.15, per="forward_us"),
        step("tiny", 100 + backward, half_width, forward_us=100, backward_us=backward),
    )
    assert found.verdict is verdict
    assert found.worst.measured.value == pytest.approx(backward / 100)


def test_the_ratio_of_two_rows_of_one_shape() -> None:
    expectation = expected(
        *("model_size", "p50_us", "at_most", 52),
        rows={"model": "small"},
        versus={"model": "tiny"},
    )
    rows = (step("tiny", 1), step("tiny", 100, seq=512), step("small", 5000, seq=512))
    found = judged(expectation, *rows)
    # Not over the row of another length, to which it would be 5000.
    assert found.worst.measured.value == 50
    assert found.verdict is Verdict.HELD and len(found.instances) == 1
    assert judged(expectation, *rows[:2], step("small", 9000, seq=512)).verdict is (
        Verdict.FAILED
    )


def test_the_growth_of_exact_bytes_needs_no_interval() -> None:
    def case(seq: int, size: float) -> dict[str, Any]:
        return entry(
            f"attention_scaling/naive/fp32/forward/batch:8/seq:{seq}/d_head:64",
            5,
            "variant=naive precision=fp32 phase=forward",
            saved_bytes=size,
        )

    growth = expected("attention_scaling", "saved_bytes", "about", 1, 0.02, along="seq")
    found = judged(growth, case(256, 1000), case(1024, 4000))
    assert found.verdict is Verdict.HELD
    assert found.worst.where.endswith("/batch:8/seq:256 to 1024/d_head:64")
    found = judged(growth, case(256, 1000), case(1024, 16000))
    assert found.verdict is Verdict.FAILED and found.worst.measured.text() == "2"
    # One length has no growth.
    lonely = document(case(256, 1000), expectations=[growth])
    assert judgements(parse(lonely)) == []


def test_a_bound_and_its_worst_row() -> None:
    found = judged(
        expected("model_size", "logits_error", "at_most", 1e-5),
        step("tiny", 1, logits_error=1e-6),
        step("small", 1, logits_error=3e-5),
        step("large", 1, logits_error=2e-5),
    )
    assert found.verdict is Verdict.FAILED
    assert found.worst.where.startswith("model_size/small/")
    assert found.counts == "2 of 3"
    assert line_of(found) == [
        "model_size",
        "the logits_error of model_size",
        "at most 1e-05",
        "3e-05",
        "failed (2 of 3)",
        "small/fp32/train_step/batch:4/seq:128",
    ]


def test_a_part_that_lacks_the_parameter_is_not_compared() -> None:
    def block(us: float, layer: str = "") -> dict[str, Any]:
        name = "breakdown/small/forward/block/seq:8"
        words = "model=small phase=forward component=block"
        return entry(name + layer, us, words, p50_us=us, half_width=0.01)

    expectation = expected(
        *("breakdown", "p50_us", "about", 1, 0.15),
        rows={"component": "block"},
        versus={"layer": "1"},
    )
    found = judged(
        expectation,
        block(30),
        *(block(us, f"/layer:{i}") for i, us in enumerate((10, 10, 33))),
    )
    assert [instance.where[-7:] for instance in found.instances] == [
        "layer:0",
        "layer:2",
    ]
    assert found.worst.measured.value == pytest.approx(3.3)  # the odd layer is named
    assert found.worst.where.endswith("/layer:2")


def test_failed_ones_come_first_and_unmeasured_ones_not_at_all() -> None:
    result = parse(
        document(
            step("tiny", 100, 0.2),
            expectations=[
                expected("model_size", "seq", "about", 128),
                expected("model_size", "p50_us", "at_most", 95),
                expected("model_size", "batch", "at_least", 8),
                expected("model_size", "speed", "at_least", 8),
                expected("precision", "p50_us", "at_most", 1),
            ],
        )
    )
    found = judgements(result)
    assert [judgement.verdict.words for judgement in found] == [
        "failed",
        "cannot tell",
        "held",
    ]
    assert summary(found) == (
        "Of 3 expectations 1 failed, 1 held; 1 cannot be told from this run."
    )
    lines = table(found).lines
    assert lines[1][2:5] == [
        "at most 95 us",
        "100 us (81.9 us to 122 us)",
        "cannot tell: about 17 runs would tell",
    ]


def test_a_null_gpu_is_held_to_its_bytes() -> None:
    result = parse(
        document(
            entry("memory/tiny/seq:8", 0, "model=tiny", peak_bytes=10, made_bytes=10),
            context={"device_kind": "null_cuda"},
            expectations=[
                expected("memory", "peak_bytes", "about", 1, 0.02, per="made_bytes"),
                expected("memory", "p50_us", "at_most", 1),
            ],
        )
    )
    (found,) = judgements(result)
    assert found.verdict is Verdict.HELD


def test_what_was_expected_has_its_unit_and_tolerance() -> None:
    def told(*what: Any, **more: Any) -> str:
        (made,) = parse(document(expectations=[expected(*what, **more)])).expectations
        return expected_text(made)

    assert told("a", "p50_us", "at_most", 2) == "at most 2 us"
    assert told("a", "p50_us", "about", 2, 0.15, per="b_us") == "2 ± 15 %"
    assert told("a", "peak_bytes", "at_least", 2048) == "at least 2 KiB"
    assert told("a", "algbw_bytes_per_second", "about", 3e9, 0.3) == "3 GB/s ± 30 %"
    assert told("a", "logits_bits", "about", 16) == "16"


def test_as_many_digits_are_shown_as_tell_the_measured_from_the_expected() -> None:
    def told(bytes_: float) -> list[str]:
        least = expected("model_size", "peak_bytes", "at_least", 1.92 * 2**30)
        return line_of(judged(least, step("tiny", 1, peak_bytes=bytes_)))[2:4]

    assert told(1.917 * 2**30) == ["at least 1.92 GiB", "1.917 GiB"]
    assert told(1.5 * 2**30 + 1) == ["at least 1.92 GiB", "1.5 GiB"]
    terms = expected("model_size", "sum", "about", 10.0021, 1e-5)
    assert line_of(judged(terms, step("tiny", 1, sum=10.00214)))[2:4] == [
        "10.0021 ± 0.001 %",
        "10.0021",
    ]
    share = expected("model_size", "overlap", "at_most", 0.5)
    assert line_of(judged(share, step("tiny", 1, overlap=0.207737)))[3] == "0.208"


def test_of_many_verdicts_those_stand_that_stand_together() -> None:
    """Each value lies 2.2 standard errors above its bound: one is told, of forty none
    is, and one that lies farther away still is."""

    def verdicts(count: int) -> list[Verdict]:
        rows = [step(f"m{i}", 100, 0.1, seq=i + 1) for i in range(count)]
        rows.append(step("far", 200, 0.1))
        wanted = expected("model_size", "p50_us", "at_most", 89)
        (found,) = judgements(parse(document(*rows, expectations=[wanted])))
        return [instance.verdict for instance in found.instances]

    assert verdicts(1) == [Verdict.FAILED, Verdict.FAILED]
    assert verdicts(40) == [Verdict.CANNOT_TELL] * 40 + [Verdict.FAILED]


def test_rows_that_took_no_turns_hold_and_fail_nothing() -> None:
    wanted = expected(
        *("model_size", "p50_us", "at_most", 2),
        rows={"model": "small"},
        versus={"model": "tiny"},
    )
    rows = (step("tiny", 10), step("small", 100))
    assert judged(wanted, *rows).verdict is Verdict.FAILED
    apart = document(*rows, expectations=[wanted], turns=[])
    (found,) = judgements(parse(apart))
    assert found.verdict is Verdict.CANNOT_TELL
    assert "--processes=6" in line_of(found)[4]
