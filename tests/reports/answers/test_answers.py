# SPDX-License-Identifier: MIT
"""The sentences and tables of the answers, from rows made by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from reports.answers import answers, markdown
from reports.answers.__main__ import main
from reports.answers.answer import SUMMARIES, expectation_of, question_of
from reports.results.rows import Result, load, parse
from results import REFERENCE, ROOT, document, entry, failure


def summary(experiment: str, *rows: dict[str, Any]) -> tuple[str, str]:
    """The sentence and the table of an experiment with these rows."""
    (answer,) = answers(parse(document(*rows)))
    assert answer.experiment == experiment
    return answer.sentence, answer.table.markdown()


def test_warmup_finds_the_calls_that_are_enough() -> None:
    def case(calls: int, ratio: float) -> dict[str, Any]:
        return entry(
            f"warmup/tiny/calls:{calls}",
            10,
            "model=tiny precision=fp32 mode=train_step",
            calls=calls,
            mean_us=10 * ratio,
            stddev_us=1,
            cv=0.1,
            first_call_us=50,
            first_ratio=5,
            steady_ratio=ratio,
        )

    sentence, table = summary("warmup", case(0, 1.4), case(1, 1.06), case(2, 1.02))
    assert "5 times a steady one" in sentence
    assert (
        "1.4 times the steady state without warm-up, against 1.02 after 2" in sentence
    )
    assert "from 2 calls on it stays within 5 %" in sentence
    assert table.count("\n") == 4
    # What comes later must not contradict it.
    sentence, _ = summary("warmup", case(0, 1.0), case(1, 1.12), case(2, 0.9))
    assert "none stays within 5 %" in sentence


def test_attention_gives_the_fitted_exponents() -> None:
    rows = [
        entry(
            f"attention_scaling/naive/fp32/forward/batch:8/seq:{seq}/d_head:64",
            3e-4 * seq**2,
            "variant=naive precision=fp32 phase=forward",
            seq=seq,
            d_head=64,
            saved_bytes=100.0 * seq,
            peak_bytes=7.0 * seq,
        )
        for seq in (256, 512, 1024)
    ]
    sentence, table = summary("attention_scaling", *rows)
    assert sentence == (
        "Forward in fp32, d 64: naive's time grows as T^2.00 (2.00 to 2.00), its saved "
        "bytes as T^1.00."
    )
    assert "| T 256 | T 512 | T 1024 |" in table
    exponents = "2.00 (2.00 to 2.00) | 1.00 (1.00 to 1.00) | 1.00 (1.00 to 1.00)"
    assert f"| 19.7 us | 78.6 us | 315 us | 100 KiB | 7 KiB | {exponents} |" in table


def test_attention_compares_sizes_at_one_length_only() -> None:
    def case(variant: str, seq: int) -> dict[str, Any]:
        return entry(
            f"attention_scaling/{variant}/fp32/forward/batch:8/seq:{seq}/d_head:64",
            seq,
            f"variant={variant} precision=fp32 phase=forward",
            seq=seq,
            d_head=64,
            saved_bytes=seq,
            peak_bytes=seq,
        )

    _, table = summary(
        "attention_scaling",
        *(case("naive", seq) for seq in (256, 512)),
        *(case("sdpa_flash", seq) for seq in (256, 512, 1024)),
    )
    assert "| naive fp32 forward, d 64 | 256 us | 512 us | - | - | - | 1.00 |" in table


def test_softmax_is_summarized_by_its_ratios() -> None:
    def case(part: str, **ratios: float) -> dict[str, Any]:
        return entry(
            f"softmax_vs_matmul/{part}/fp32/batch:4/heads:12/seq:512/d_head:64",
            5,
            f"part={part} precision=fp32",
            seq=512,
            d_head=64,
            flops_per_second=1e9,
            bytes_per_second=1e9,
            **ratios,
        )

    sentence, _ = summary(
        "softmax_vs_matmul",
        case("qk"),
        case("softmax_naive", time_ratio=1.5, flop_ratio=0.039, byte_ratio=6.4),
    )
    assert "At 512 tokens the naive softmax has 3.9 % of the FLOPs" in sentence
    assert "6.4 times its bytes and takes 1.5 times its time: it is bytes" in sentence
    # A row that something else has slowed down shows nothing of the kind.
    sentence, _ = summary(
        "softmax_vs_matmul",
        case("qk"),
        case("softmax_naive", time_ratio=835, flop_ratio=0.039, byte_ratio=6.4),
    )
    assert "835 times its time, which its bytes do not explain." in sentence


def precision_row(precision: str, **counters: float) -> dict[str, Any]:
    return entry(
        f"precision/tiny/{precision}/forward/batch:4/seq:128",
        10,
        f"model=tiny precision={precision} mode=forward",
        peak_bytes=1024,
        **counters,
    )


def test_precision_is_compared_with_fp32() -> None:
    sentence, table = summary(
        "precision",
        precision_row("fp32", logits_error=1e-6),
        precision_row("bf16", logits_error=0.01, speedup=2.5, peak_ratio=0.6),
    )
    assert "bf16 (tiny, forward), has 2.5 times the speed of fp32" in sentence
    assert "largest error of the logits is 0.01, in fp32 1e-06." in sentence
    assert "| tiny forward fp32 | 10 us | 1 | 1 KiB | 1 |" in table


def test_without_its_baseline_a_ratio_is_unknown() -> None:
    _, table = summary(
        "precision",
        precision_row("fp32", logits_error=1e-6),
        precision_row("bf16", logits_error=0.01, speedup=2.5, peak_ratio=0.6),
        precision_row("tf32", logits_error=0.001),
    )
    assert "| tiny forward tf32 | 10 us | - | 1 KiB | - |" in table


def test_transfer_names_the_fastest_and_the_largest() -> None:
    def case(size: int, rate: float) -> dict[str, Any]:
        return entry(
            f"transfer/memcpy/size:{size}",
            1e6 / size,
            "direction=memcpy",
            size=size,
            bytes_per_second=rate,
        )

    sentence, _ = summary("transfer", case(64, 5e9), case(4096, 2e9))
    assert "The fastest, memcpy/size:64, moves 5 GB/s" in sentence
    assert "the largest, memcpy/size:4096, 2 GB/s" in sentence


def test_memory_names_the_worst_prediction() -> None:
    def case(error: float, largest: float, what: str) -> dict[str, Any]:
        return entry(
            f"memory/tiny/fp32/forward/batch:4/seq:{largest}",
            5,
            f"model=tiny precision=fp32 mode=forward | largest={what}",
            seq=128,
            own_peak_bytes=100,
            predicted_peak_bytes=100,
            prediction_error=error,
            largest_allocation_bytes=largest,
            residual_bytes=7,
        )

    sentence, table = summary(
        "memory",
        case(0.001, 10, "aten::mm in forward"),
        case(-0.012, 2048, "aten::sub in loss"),
    )
    assert "within 1.2 % of the measured peak on all 2 rows" in sentence
    assert "2 KiB, is made by aten::sub in loss." in sentence
    assert "-1.20 %" in table


def test_every_experiment_has_a_summary_and_a_question() -> None:
    experiments = {path.stem for path in (ROOT / "benchmarks").glob("*.cc")}
    assert set(SUMMARIES) == experiments
    for experiment in experiments:
        assert question_of(experiment).endswith("?")


def test_an_expectation_is_the_whole_comment_on_one_line() -> None:
    expected = expectation_of("harness")
    assert expected.startswith("An empty call takes two readings of the clock,")
    assert expected.endswith("no other row of this run can be trusted.")
    for experiment in SUMMARIES:
        assert "//" not in expectation_of(experiment)
        assert expectation_of(experiment).endswith(".")


def test_a_result_without_rows_answers_nothing() -> None:
    assert answers(parse(document())) == []
    assert markdown(parse(document())) == ""


def test_what_was_not_measured_is_said() -> None:
    failed = [failure("a", "b")]
    result = parse(document(skipped=failed * 2, errors=failed, complete=False))
    assert markdown(result) == (
        "Not measured: 2 cases skipped, 1 case failed; the run was stopped early."
    )


def test_a_file_that_answers_nothing_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document()))
    assert main([str(path)]) == 1
    assert "a.json answers no question" in capsys.readouterr().err


def test_a_null_gpu_answers_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.json"
    row = entry("transfer/alone", 0, "direction=memcpy", size=1)
    path.write_text(json.dumps(document(row, context={"device_kind": "null_cuda"})))
    assert main([str(path)]) == 1
    assert "answers no question: a null GPU has no times" in capsys.readouterr().err


@pytest.fixture(scope="module")
def reference() -> Result:
    return load(REFERENCE)


def test_the_reference_run_answers_every_question(reference: Result) -> None:
    measured = {row.experiment for row in reference.rows}
    assert {answer.experiment for answer in answers(reference)} == measured
    assert reference.errors == []


def test_bad_files_are_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "nowhere.json")]) == 2
    assert "nowhere.json" in capsys.readouterr().err
