# SPDX-License-Identifier: MIT
"""The gain from each change, from handmade rows on a device with round rates."""

import math

import pytest

from advised import (
    BF16_PEAK,
    PEAKS,
    SHAPE,
    STEP,
    Entry,
    lines,
    part,
    product,
    step,
    timed,
    verdicts,
    whole,
)
from reports.answers.judging import Verdict
from results import entry


def softmax(part_: str, us: float, **counters: float) -> Entry:
    words = f"part={part_} precision=fp32"
    return timed("softmax_vs_matmul", us, words, f"{SHAPE}/d_head:64", **counters)


def test_a_fused_kernel_is_one_pass_beside_its_products() -> None:
    ffn = part("forward", "ffn", 1000, matmul_share=0.6, pass_bytes=1e6)
    back = part("backward", "ffn", 3000, matmul_share=0.5, pass_bytes=2e6)
    found = lines(*PEAKS, ffn, back, whole(5000))["fused SwiGLU"]
    # 400 - 100 us forward, 1500 - 200 backward: a copy moves 10 MB in 1 ms.
    assert found.saved_us.value == pytest.approx(1600)
    assert found.of_us == 5000
    assert found.rows == (ffn["name"], back["name"], "peak/copy/size:1")
    assert verdicts(found) == []


def test_a_kernel_that_is_one_pass_already_is_no_advice() -> None:
    norm = part("forward", "norm", 90, pass_bytes=1e6)
    assert "fused norm" not in lines(*PEAKS, norm, whole(90))


def test_fused_softmax_is_checked_by_the_one_that_was_timed() -> None:
    naive = softmax("softmax_naive", 1000)
    row = part("forward", "softmax", 700, pass_bytes=1e6)
    for us, verdict in ((250, Verdict.HELD), (500, Verdict.FAILED)):
        fused = softmax("softmax_fused", us, bytes=2e6)
        found = lines(*PEAKS, row, whole(900), naive, fused)["fused softmax"]
        assert found.saved_us.value == pytest.approx(600)
        assert found.where == "tiny fp32 train_step 4 x 128"
        # The prediction is 1000 - 200 us; the measurement 750 or 500.
        (check,) = found.checks
        assert check.predicted.value == pytest.approx(800)
        assert verdicts(found) == [verdict]
    # In a file of an earlier version, a step has no bytes.
    alone = lines(*PEAKS, naive, fused)["fused softmax"]
    assert alone.where == naive["name"]
    assert alone.saved_us.value == pytest.approx(800)


def attention(variant: str, phase: str, us: float, **counters: float) -> Entry:
    words = f"variant={variant} precision=fp32 phase={phase}"
    shape = "batch:8/seq:256/d_head:64"
    return timed("attention_scaling", us, words, shape, **counters)


def test_flash_attention_leaves_the_products() -> None:
    rows = (
        part("forward", "scores", 300, matmul_share=0.5, pass_bytes=0),
        part("forward", "softmax", 600, pass_bytes=8e6),
        part("forward", "value", 100, matmul_share=1.0, pass_bytes=0),
        part("backward", "softmax", 500, pass_bytes=12e6),
        whole(3000),
    )
    memory = step(
        *("memory", 3000),
        **{"peak_bytes": 3e7, "predicted_parameter_bytes": 1e6},
        **{"predicted_gradient_bytes": 1e6, "predicted_optimizer_bytes": 2e6},
    )
    found = lines(*PEAKS, *rows)["flash attention"]
    # 150 + 600 + 500 us outside products; the backward pass repeats 150 us of products.
    assert found.saved_us.value == pytest.approx(1100)
    assert found.saved_bytes is None
    # 8e6 bytes are read and written in fp32: 1e6 scores, with 8 bytes each saved.
    assert lines(*PEAKS, *rows, memory)["flash attention"].saved_bytes == 8e6
    tight = memory | {"peak_bytes": 9e6}
    assert lines(*PEAKS, *rows, tight)["flash attention"].saved_bytes == 5e6


def test_flash_attention_is_predicted_at_the_rate_of_attentions_products() -> None:
    row = part("forward", "softmax", 600)
    qk = softmax("qk", 1, flops_per_second=5e11, flops=1)
    rows = [
        attention("naive", "forward", 1000),
        attention("naive", "backward", 2000),
        attention("sdpa_flash", "forward", 300, flops=1e8, bytes=1e5),
        attention("sdpa_flash", "backward", 1400, flops=2e8, bytes=1e5),
        attention("own", "forward", 250, flops=1e8, bytes=1e5),
    ]
    found = lines(*PEAKS, row, whole(900), qk, *rows)["flash attention"]
    # 200 us, and 1.25 * 400 us: five products instead of four.
    assert [check.predicted.value for check in found.checks] == pytest.approx(
        [800, 1500, 800]
    )
    assert [check.where for check in found.checks] == [r["name"] for r in rows[2:]]
    assert verdicts(found) == [Verdict.HELD, Verdict.FAILED, Verdict.HELD]
    without = lines(*PEAKS, row, whole(900), *rows)["flash attention"]
    assert without.checks[0].predicted.value == pytest.approx(900)


def test_bf16_makes_products_faster() -> None:
    divided = whole(1000, matmul_share=0.6)
    rows = (
        *(BF16_PEAK, part("forward", "ffn", 900), divided),
        step("precision", 2000, predicted_peak_bytes=100, peak_bytes=101),
        step("precision", 1100, "bf16", predicted_peak_bytes=60, peak_bytes=62),
    )
    found = lines(*PEAKS, *rows)["bf16"]
    # 1200 us of products are reduced to 300 us.
    assert found.saved_us.value == pytest.approx(900)
    assert found.measured_us and found.measured_us.value == 900
    assert found.saved_bytes == 40
    assert divided["name"] in found.rows and BF16_PEAK["name"] in found.rows
    assert [(check.measured.value, check.in_bytes) for check in found.checks] == [
        (900, False),
        (39, True),
    ]
    assert verdicts(found) == [Verdict.HELD, Verdict.HELD]


def test_bf16_is_predicted_by_products_of_as_many_tokens() -> None:
    rows = (
        *(part("forward", "ffn", 900), whole(1000, matmul_share=0.6)),
        *(product("fp32", 1e12, 512), product("bf16", 3e12, 512)),
        *(product("fp32", 9e12, 512, "onednn"), product("bf16", 9e12, 4096)),
        step("precision", 2000),
    )
    # 1200 us of products take 400 us.
    assert lines(*rows)["bf16"].saved_us.value == pytest.approx(800)


@pytest.mark.parametrize(
    ("bf16_us", "half_width", "verdict"),
    [
        (1150, 0.01, Verdict.HELD),
        (1500, 0.01, Verdict.FAILED),
        (1150, 1.0, Verdict.CANNOT_TELL),
        (1150, math.inf, Verdict.CANNOT_TELL),
        (3000, 0.01, Verdict.FAILED),
    ],
)
def test_autocast_and_weights_in_bf16_check_one_prediction(
    bf16_us: float, half_width: float, verdict: Verdict
) -> None:
    rows = (
        *(BF16_PEAK, part("forward", "ffn", 900), whole(1000, matmul_share=0.6)),
        step("precision", 2000),
        step("precision", bf16_us, "bf16_autocast", half_width=half_width),
        step("precision", 1100, "bf16"),
    )
    found = lines(*PEAKS, *rows)
    assert list(found) == ["bf16"]
    assert verdicts(found["bf16"]) == [verdict, Verdict.HELD]


def test_without_a_peak_in_bf16_its_time_is_measured_alone() -> None:
    rows = (step("precision", 2000), step("precision", 2600, "bf16_autocast"))
    found = lines(*PEAKS, *rows)
    assert list(found) == ["bf16 autocast"]
    assert found["bf16 autocast"].gain_us.value == -600
    assert "measured, not predicted" in found["bf16 autocast"].assumption
    assert verdicts(found["bf16 autocast"]) == []


def test_a_larger_batch_shares_the_optimizer() -> None:
    memory = step("memory", 2000, "fp32", "1", predicted_saved_bytes=1000)
    small = step("model_size", 2000, "fp32", "1", optimizer_us=200)
    large = step("precision", 7400, "fp32", "4", optimizer_us=200)
    found = lines(*PEAKS, small, large, memory)["larger batch"]
    # 200 us are 5 % of 200 + 1800 n for n of at least 2.1.
    assert "batch 3 replaces 3 steps of 1" in found.assumption
    assert found.saved_us.value == pytest.approx(200 * 2 / 3)
    assert found.saved_bytes == -2000
    (check,) = found.checks
    assert check.where == large["name"]
    assert check.predicted.value == pytest.approx(150)  # of three optimizers, per step
    assert check.measured.value == pytest.approx(150)
    assert verdicts(found) == [Verdict.HELD]


def test_products_of_a_larger_batch_are_faster() -> None:
    rows = (
        *(product("fp32", 1e12, 512), product("fp32", 2e12, 2048)),
        *(part("forward", "ffn", 900), whole(1000, matmul_share=0.6)),
    )
    small = step("model_size", 2000, optimizer_us=200)
    found = lines(*rows, small)["larger batch"]
    # One step replaces three: half of the products' 1200 us and 2/3 of the updates go.
    assert found.saved_us.value == pytest.approx(600 + 200 * 2 / 3)
    assert {row["name"] for row in rows if "ffn" not in row["name"]} <= set(found.rows)


def test_products_of_other_weights_say_nothing_of_a_larger_batch() -> None:
    other = product("fp32", 2e12, 2048)
    other["name"] = other["name"].replace("n:1", "n:2")
    rows = (
        *(product("fp32", 1e12, 512), other),
        *(part("forward", "ffn", 900), whole(1000, matmul_share=0.6)),
    )
    found = lines(*rows, step("model_size", 2000, optimizer_us=200))["larger batch"]
    assert found.saved_us.value == pytest.approx(200 * 2 / 3)


def test_a_batch_that_hides_all_else_is_large_enough() -> None:
    assert "larger batch" not in lines(step("model_size", 2000, optimizer_us=90))


def checkpointed(how: str, us: float, **counters: float) -> Entry:
    words, shape = f"checkpoint={how} {STEP}", "batch:1/seq:512"
    return timed("checkpointing", us, words, shape, p50_us=us, **counters)


def test_checkpointing_saves_what_a_dry_run_says_and_costs_its_flops() -> None:
    memory = step(
        *("memory", 3000),
        **{"flops": 100, "checkpointed_flops": 20},
        **{"predicted_peak_bytes": 5000, "checkpointed_peak_bytes": 3500},
    )
    rows = (
        checkpointed("none", 1000),
        checkpointed("every_1", 1190, flops=50, recomputed_flops=10),
    )
    found = lines(memory, *rows)["checkpointing"]
    assert found.saved_bytes == 1500
    assert (found.saved_us.value, found.measured_us) == (-600, None)
    assert [check.where for check in found.checks] == [rows[1]["name"]]
    assert verdicts(found) == [Verdict.HELD]  # -200 us predicted, -190 measured
    assert "checkpointing" not in lines(memory | {"checkpointed_peak_bytes": 6000})


def ddp(strategy: str, us: float, exposed_us: float, bucket: str = "") -> Entry:
    words = f"strategy={strategy} model=tiny precision=fp32"
    numbers = f"ranks:2{bucket}/batch:1/seq:128"
    return timed("ddp", us, words, numbers, predicted_exposed_us=exposed_us, p50_us=us)


def test_buckets_save_what_the_calls_take() -> None:
    rows = (
        ddp("per_parameter", 2000, 800),
        ddp("overlap_bucketed", 1500, 400, "/bucket_mb:1"),
        ddp("overlap_bucketed", 1350, 200, "/bucket_mb:10"),
        entry("all_reduce/gloo/ranks:2/bytes:8", 5, "backend=gloo"),
        entry("all_reduce/gloo/ranks:4/bytes:8", 5, "backend=gloo"),
    )
    found = lines(*rows)["bucketed exchange"]
    assert (found.saved_us.value, found.gain_us.value) == (600, 650)
    assert found.rows == (rows[0]["name"], "all_reduce/gloo/ranks:2/bytes:8")
    assert [check.where for check in found.checks] == [rows[2]["name"]]
    assert verdicts(found) == [Verdict.HELD]  # 650 us
    assert "bucketed exchange" not in lines(rows[0])
