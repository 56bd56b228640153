# SPDX-License-Identifier: MIT
"""Predictions compared with rows of the same run that implement the change."""

import pytest

from advised import (
    PEAKS,
    SHAPE,
    STEP,
    Entry,
    lines,
    op,
    part,
    product,
    timed,
    verdicts,
    whole,
)
from reports.advice.advice import advice
from reports.advice.tell import sentence
from reports.answers.judging import Verdict
from results import parsed, within


def test_a_fused_operation_is_checked_by_its_rows_of_the_steps_shape() -> None:
    ffn = part("forward", "ffn", 1000, matmul_share=0.6, pass_bytes=1e6)
    others = (op("textbook", 5000, "small"), op("fused", 4900, "small"))
    own = (op("textbook", 1000), op("library", 700), op("fused", 250))
    found = lines(*PEAKS, ffn, whole(5000), *others, *own)["fused SwiGLU"]
    # At the rate of a copy, 200 of 1000 us remain.
    (check,) = found.checks
    assert (check.base, check.where) == (own[0]["name"], own[2]["name"])
    assert check.predicted.value == pytest.approx(800)
    assert verdicts(found) == [Verdict.HELD]
    # Rows of another shape are better than none.
    found = lines(*PEAKS, ffn, whole(5000), *others)["fused SwiGLU"]
    assert [check.where for check in found.checks] == [others[1]["name"]]
    assert verdicts(found) == [Verdict.FAILED]
    # If a run's steps have no bytes, the operation with the largest gain is reported.
    alone = lines(*PEAKS, *others, *own)["fused SwiGLU"]
    assert alone.where == others[0]["name"] and not alone.is_of_step
    assert verdicts(alone) == [Verdict.FAILED, Verdict.HELD]


def launched(launch: str, us: float, mode: str = "train_step") -> Entry:
    words = f"launch={launch} model=tiny precision=fp32 mode={mode}"
    return timed("cuda_graph", us, words, SHAPE)


def test_a_cuda_graph_is_checked_by_the_replay_of_the_same_step() -> None:
    gaps = (part("forward", "gap", 200), part("backward", "gap", 300))
    rows = (
        *(launched("eager", 600), launched("graph", 150)),
        *(launched("eager", 600, "forward"), launched("graph", 1, "forward")),
    )
    alone = lines(*PEAKS, *gaps, whole(590))["CUDA graph"]
    assert alone.rows == tuple(gap["name"] for gap in gaps)
    assert (alone.saved_us.value, alone.checks) == (500, ())
    dispatch = part("forward", "dispatch", 200)  # of a CPU, which has no graphs
    assert "CUDA graph" not in lines(*PEAKS, dispatch, whole(290))
    found = lines(*PEAKS, *gaps, whole(590), *rows)["CUDA graph"]
    (check,) = found.checks
    assert (check.where, check.measured.value) == (rows[1]["name"], 450)
    assert (found.saved_us.value, found.gain_us.value) == (500, 450)
    assert verdicts(found) == [Verdict.HELD]
    # The step that gains most may be one without a replayed row.
    bf16 = STEP.replace("fp32", "bf16")
    narrow = (part("forward", "gap", 1000, bf16), whole(1180, bf16))
    found = lines(*PEAKS, *gaps, whole(590), *narrow, *rows)["CUDA graph"]
    assert "bf16" in found.where and found.measured_us is None
    assert [check.where for check in found.checks] == [rows[1]["name"]]


def implemented(
    name: str,
    us: float,
    mode: str = "forward_backward",
    finding: str = "",
    **more: float,
) -> Entry:
    words = f"implementation={name} model=tiny precision=fp32 mode={mode} | {finding}"
    return timed("implementations", us, words, SHAPE, **more)


def test_the_fused_implementation_is_all_its_kernels_at_once() -> None:
    parts = {
        name: part("forward", name, 100, pass_bytes=5e5)  # takes 50 us
        for name in ("norm", "ffn", "cross_entropy", "rope", "softmax")
    }
    rows = (*PEAKS, *parts.values(), whole(2000))
    steps = (
        implemented("textbook", 1900, predicted_peak_bytes=90, peak_bytes=91),
        implemented("fused", 1550, predicted_peak_bytes=50, peak_bytes=52),
        implemented("textbook", 500, "forward"),
        implemented("fused", 1, "forward"),
    )
    found = lines(*rows, *steps)["implementation=fused"]
    # Saves 50 us in each of four parts, and all of the softmax.
    assert found.saved_us.value == pytest.approx(300) and found.gain_us.value == 350
    assert found.saved_bytes is None
    assert set(found.rows) == {p["name"] for p in parts.values()} | {PEAKS[1]["name"]}
    assert [(check.measured.value, check.in_bytes) for check in found.checks] == [
        (350, False),
        (39, True),
    ]
    assert verdicts(found) == [Verdict.HELD, Verdict.HELD]
    trained = [
        implemented(name, 9, "train_step", predicted_peak_bytes=size, peak_bytes=size)
        for name, size in (("textbook", 120.0), ("fused", 80.0))
    ]
    # The train step itself is better evidence than a step without its optimizer.
    found = lines(*rows, *steps, *trained)["implementation=fused"]
    assert (found.saved_bytes, found.gain_us.value) == (40, 0)
    # The change cannot save more time than its kernels take.
    noisy = [row | within(0.9, p50_us=row["real_time"]) for row in parts.values()]
    given = advice(parsed(*PEAKS, *noisy, whole(2000)))
    assert sentence(given).startswith(
        "Of the changes to a step, implementation=fused would save most: 300 us"
    )
    # Another library computes its products twice as fast, except attention's.
    parts["ffn"] = part("forward", "ffn", 500, pass_bytes=5e5, matmul_share=0.8)
    parts["softmax"] = part("forward", "softmax", 100, matmul_share=0.5, pass_bytes=5e5)
    products = (product("fp32", 1e12, 512, "mkl"), product("fp32", 2e12, 512, "onednn"))
    chosen = implemented("fused", 1550, finding="products=onednn")
    rows = (*PEAKS, *parts.values(), whole(2000), *products, steps[0], chosen)
    saved = lines(*rows)["implementation=fused"].saved_us.value
    assert saved == pytest.approx(50 * 4 + 50 + 200)
    del parts["rope"]
    incomplete = lines(*PEAKS, *parts.values(), whole(2000), *steps)
    assert "implementation=fused" not in incomplete
