# SPDX-License-Identifier: MIT
"""Expectations that hold, fail, or cannot be decided."""

from typing import Any

from golden import check_golden
from reports.answers.expectations import summary, table
from reports.answers.judging import Judgement, Verdict, judgements
from results import entry, expected, parsed


def step(model: str, us: float, half_width: float = 0.01, **more: float) -> Any:
    return entry(
        f"model_size/{model}/fp32/train_step/batch:4/seq:{int(more.get('seq', 128))}",
        us,
        f"model={model} precision=fp32 mode=train_step",
        **({"p50_us": us, "half_width": half_width, "batch": 4, "seq": 128} | more),
    )


def judged(expectations: Any, *rows: dict[str, Any], **others: Any) -> list[Judgement]:
    wanted = expectations if isinstance(expectations, list) else [expectations]
    return judgements(parsed(*rows, expectations=wanted, **others))


def case(seq: int, size: float) -> dict[str, Any]:
    name = f"attention_scaling/naive/fp32/forward/batch:8/seq:{seq}/d_head:64"
    return entry(name, 5, "variant=naive precision=fp32", saved_bytes=size)


def block(us: float, layer: str = "") -> dict[str, Any]:
    name = "breakdown/small/forward/block/seq:8"
    words = "model=small phase=forward component=block"
    return entry(name + layer, us, words, p50_us=us, half_width=0.01)


SMALL_TO_TINY = {"rows": {"model": "small"}, "versus": {"model": "tiny"}}


def test_what_is_said_of_expectations() -> None:
    backward = expected("model_size", "backward_us", "about", 2, 0.15, per="forward_us")
    small = expected("model_size", "p50_us", "at_most", 52, **SMALL_TO_TINY)
    lengths = (step("tiny", 100, seq=512), step("tiny", 1))
    growth = expected("attention_scaling", "saved_bytes", "about", 1, 0.02, along="seq")
    bound = expected("model_size", "logits_error", "at_most", 1e-5)
    alike = expected(
        *("breakdown", "p50_us", "about", 1, 0.15),
        rows={"component": "block"},
        versus={"layer": "1"},
    )
    several = [
        expected("model_size", "seq", "about", 128),
        expected("model_size", "p50_us", "at_most", 95),
        expected("model_size", "batch", "at_least", 8),
        expected("model_size", "speed", "at_least", 8),
        expected("precision", "p50_us", "at_most", 1),
    ]
    exact = [
        expected("memory", "peak_bytes", "about", 1, 0.02, per="made_bytes"),
        expected("memory", "p50_us", "at_most", 1),
    ]
    memory = entry("memory/tiny/seq:8", 0, "model=tiny", peak_bytes=10, made_bytes=10)
    least = expected("model_size", "peak_bytes", "at_least", 1.92 * 2**30)
    digits = [
        *(expected("model_size", "sum", "about", 10.0021, 1e-5), least),
        expected("model_size", "overlap", "at_most", 0.5),
    ]
    sizes = {"sum": 10.00214, "overlap": 0.207737, "peak_bytes": 1.917 * 2**30}
    found = {
        f"two counters, {us} us and {width:.0%}": judged(
            backward, step("tiny", 100, width, forward_us=100, backward_us=us)
        )
        for us, width in ((200, 0.01), (300, 0.01), (300, 0.5), (200, 0.5))
    } | {
        # Not compared with the row of another length, which would be 5000.
        "two rows": judged(small, *lengths, step("small", 5000, seq=512)),
        "two rows too far apart": judged(small, *lengths, step("small", 9000, seq=512)),
        "exact growth, after 0": judged(
            growth, case(64, 0), case(256, 1000), case(1024, 4000)
        ),
        "exact growth, too much": judged(growth, case(256, 1000), case(1024, 16000)),
        "growth of one length": judged(growth, case(256, 1000), case(1024, 0)),
        "the worst row": judged(
            bound,
            step("tiny", 1, logits_error=1e-6),
            step("small", 1, logits_error=3e-5),
            step("large", 1, logits_error=2e-5),
        ),
        # The row of all layers together lacks the parameter.
        "the odd layer": judged(
            alike,
            block(30),
            *(block(us, f"/layer:{i}") for i, us in enumerate((10, 10, 33))),
        ),
        "failed first, unmeasured not at all": judged(several, step("tiny", 100, 0.2)),
        "a null GPU": judged(exact, memory, context={"device_kind": "null_cuda"}),
        "digits": judged(digits, step("tiny", 1, **sizes)),
        "fewer digits": judged(least, step("tiny", 1, peak_bytes=1.5 * 2**30 + 1)),
        "turns": judged(small, step("tiny", 10), step("small", 1000)),
        "no turns": judged(small, step("tiny", 10), step("small", 1000), turns=[]),
    }
    check_golden(
        "expectations.txt",
        {
            name: f"{summary(one)}\n\n{table(one).markdown()}"
            for name, one in found.items()
        },
    )


def test_of_many_verdicts_those_stand_that_stand_together() -> None:
    """Each value is 2.2 standard errors above its bound: one alone is a failure, among
    forty none is, but a value farther away still is."""

    def verdicts(count: int, undecided: int = 0) -> list[Verdict]:
        rows = [step(f"m{i}", 100, 0.1, seq=i + 1) for i in range(count)]
        rows.append(step("far", 200, 0.1))
        rows += [step(f"u{i}", 89, 0.1, seq=i + 1) for i in range(undecided)]
        wanted = expected("model_size", "p50_us", "at_most", 89)
        (found,) = judgements(parsed(*rows, expectations=[wanted]))
        return [instance.verdict for instance in found.instances]

    assert verdicts(1) == [Verdict.FAILED, Verdict.FAILED]
    assert verdicts(40) == [Verdict.CANNOT_TELL] * 40 + [Verdict.FAILED]
    # Chance chose which of the others are undecided.
    mixed = verdicts(1, undecided=39)
    assert mixed == [Verdict.CANNOT_TELL, Verdict.FAILED, *[Verdict.CANNOT_TELL] * 39]
