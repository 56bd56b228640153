# SPDX-License-Identifier: MIT
"""Plots of implementations, operations and attention kernels show their rows."""

from typing import Any

import pytest

from figures import boxes, fill, gids, markers, texts
from implementation_rows import attention, op, step
from reports.experiments import known
from reports.pages.plotting.figure import Figure
from reports.results.rows import parse
from results import document


def drawn(experiment: str, *rows: Any) -> list[Figure]:
    figures = known()[experiment].figures
    assert figures is not None
    return figures(parse(document(*rows)))


def test_time_and_peak_are_bars_beside_the_textbook() -> None:
    time, peak = drawn(
        "implementations",
        step("textbook", 100, peak_bytes=1000),
        step("library", 80, peak_bytes=900),
        step("fused", 40, peak_bytes=450),
        step("fused", 1, seq=64),  # of another shape
    )
    assert time.title == "Time against the textbook"
    labels = texts(time.svg)
    assert {"library", "fused", "textbook", "tiny fp32 forward_backward", "0.8"} <= set(
        labels
    )
    (library,), (fused,) = boxes(time, fill(1)), boxes(time, fill(2))
    assert library / fused == pytest.approx(2, rel=0.01)
    assert "4 x 128 tokens" in time.description
    (library,), (fused,) = boxes(peak, fill(1)), boxes(peak, fill(2))
    assert library / fused == pytest.approx(2, rel=0.01)
    assert {"0.9", "0.45"} <= set(texts(peak.svg))
    without = drawn("implementations", step("textbook", 1), step("fused", 1))
    assert len(without) == 1


def test_an_interval_is_drawn_as_far_as_it_leaves_room() -> None:
    def figure(half_width: float) -> Figure:
        base = step("textbook", 100, half_width=0)
        fused = step("fused", 50, half_width=half_width)
        (found,) = drawn("implementations", base, fused)
        return found

    exact = figure(0)
    assert gids(exact.svg, "interval-") == []
    for half_width in (0.05, 3, 60):
        found = figure(half_width)
        assert gids(found.svg, "interval-") == ["interval-0"]
        assert boxes(found, fill(2)) == boxes(exact, fill(2))


def test_operations_are_bars_of_the_memory_rate_by_pass() -> None:
    forward, both = drawn(
        "fused_ops",
        *(
            op(name, implementation, 10, bandwidth_share=share)
            for implementation, share in (("textbook", 0.2), ("fused", 0.8))
            for name in ("swiglu", "rope")
        ),
        op("cross_entropy", "fused", 10, "both", bandwidth_share=0.5),
    )
    assert (
        forward.title
        == "Share of the memory rate of the forward pass, small fp32 4 x 128"
    )
    assert both.title.startswith("Share of the memory rate of both passes")
    labels = texts(forward.svg)
    # Its implementations are side by side, though the run has them apart.
    assert labels.count("swiglu") == 1 and labels.index("swiglu") < labels.index("rope")
    assert {"80 %", "20 %", "best measured"} <= set(labels)
    textbook, fused = boxes(forward, fill(0)), boxes(forward, fill(2))
    assert len(textbook) == len(fused) == 2
    assert fused[0] / textbook[0] == pytest.approx(4, rel=0.01)
    assert len(boxes(both, fill(2))) == 1


def test_kernels_are_lines_over_the_length_at_one_head_size() -> None:
    seqs = (512, 1024, 4096)
    rows = [
        attention(variant, 10, phase, seq, "bf16", d)
        for variant in ("sdpa_flash", "own")
        for phase in ("forward", "forward_backward")
        for d in (64, 128)
        for seq in seqs
        if (variant, seq) != ("sdpa_flash", 512)  # skipped
    ]
    other_phase = attention("own", 10, "backward", 512, "bf16")
    figures = drawn("flash_attention", *rows, other_phase)
    assert [figure.title for figure in figures] == [
        "FLOP/s of the forward pass, in bf16, 1 head, d 128",
        "FLOP/s of the forward and backward pass, in bf16, 1 head, d 128",
    ]
    labels = texts(figures[0].svg)
    assert {"sdpa_flash", "own", "512", "1k", "4k", "tokens T"} <= set(labels)
    assert any(label.endswith("TFLOP/s") for label in labels)
    assert markers(figures[0].svg, "rates-of-own") == 3
    assert markers(figures[0].svg, "rates-of-sdpa_flash") == 2
