# SPDX-License-Identifier: MIT
"""The roofline, from handmade rows."""

from dataclasses import replace
from typing import Any

from figures import markers, texts
from reports.pages.figures.roofline import roofline
from reports.results.rows import Row
from results import result_of


def row(name: str, rate: float, intensity: float = 1, **more: Any) -> Row:
    words = {"precision": more.pop("precision", "fp32")}
    counters = {"flops": 1e9, "bytes": 1e9 / intensity, "flops_per_second": rate}
    return Row(name, 1, words, {}, counters | more)


def peak(work: str, precision: str = "", **rates: float) -> Row:
    words = {"work": work} | ({"precision": precision} if precision else {})
    sizes = {"flops": 1e12, "bytes": 1e10} if precision else {"bytes": 1e9}
    name = f"peak/{work}/{precision}/m:1024" if precision else f"peak/{work}/size:1"
    return Row(name, 1, words, {}, sizes | rates)


# The roof: 100 GFLOP/s and 20 GB/s, which intersect at 5 FLOP/B.
PEAKS = [
    peak("matmul", "fp32", flops_per_second=90e9, bytes_per_second=9e11),
    peak("matmul", "fp32", flops_per_second=100e9, bytes_per_second=9e11),
    peak("copy", bytes_per_second=15e9),
    peak("update", bytes_per_second=20e9),
]
BF16 = peak("matmul", "bf16", flops_per_second=800e9, bytes_per_second=8e12)


def test_the_roof_is_that_of_the_best_peaks_and_what_is_above_it_is_ringed() -> None:
    rows = [
        row("softmax/a", 30e9, 1),  # the memory's limit is 20
        row("softmax/b", 20.1e9, 1),  # within noise
        row("softmax/c", 300e9, 100),  # the products' limit is 100
        row("softmax/d", 30e9, 2),  # below
        row("ddp/a", 1e12, ranks=2),  # left out
    ]
    (figure,) = roofline(result_of(*PEAKS, *rows))
    assert figure.title == "Roofline: fp32"
    assert {
        *("softmax (4)", "peak (2)", "above the measured roof (2)"),
        *("ridge: 5 FLOP/B", "100 GFLOP/s, fp32 product"),
        "20 GB/s, best of memory: the slope",
    } <= set(texts(figure.svg))
    assert markers(figure.svg, "points-softmax") == 4
    assert markers(figure.svg, "points-ddp") == 0
    assert markers(figure.svg, "above") == 2


def test_a_row_above_all_peaks_raises_the_roof_and_is_named() -> None:
    def above(name: str, what: str, **counters: float) -> Row:
        text = f"1.5 times the fastest {what}: later rows are compared with this one"
        found = row(name, 120e9, **counters)
        return replace(found, findings={"above_peak": text})

    product = above("softmax/a", "product", intensity=100)
    moved = above("softmax/b", "pass over memory", intensity=4)
    figure, other = roofline(result_of(*PEAKS, BF16, product, moved))
    assert "FLOPs per byte; 0 are above it" in other.description
    assert "softmax/b raised it" in other.description
    labels = texts(figure.svg)
    assert "120 GFLOP/s, fp32 product" in labels
    assert "250 TB/s, best of memory: the slope" in labels
    assert "softmax/b and softmax/a raised it" in figure.description


def test_each_measured_precision_has_its_own_roof() -> None:
    rows = [
        row("precision/tiny/fp32/seq:8", 1e9),
        row("precision/tiny/bf16/seq:8", 700e9, 100, precision="bf16"),
        row("precision/tiny/bf16/seq:9", 500e9, 90, precision="bf16_autocast"),
    ]
    fp32, wide = roofline(result_of(*PEAKS, BF16, *rows))
    assert "precision (1)" in texts(fp32.svg)
    assert {"precision (2)", "ridge: 40 FLOP/B"} <= set(texts(wide.svg))


def test_a_precision_of_unknown_peak_is_hollow_and_only_memory_limits_it() -> None:
    rows = [
        row("precision/tiny/bf16/seq:8", 300e9, 100, precision="bf16_autocast"),
        row("precision/tiny/bf16/seq:9", 30e9, 1, precision="bf16"),
    ]
    (figure,) = roofline(result_of(*PEAKS, *rows))
    assert markers(figure.svg, "points-precision-other") == 2
    assert markers(figure.svg, "points-precision") == 0
    assert markers(figure.svg, "above") == 1
    assert "hollow: bf16, of unmeasured peak" in texts(figure.svg)


def test_many_points_stay_readable_and_small() -> None:
    rows = [
        row(f"experiment_{i % 9}/tiny/fp32/seq:{i}", 1e9 * (1 + i % 83), 1 + i % 97)
        for i in range(1500)
    ]
    (figure,) = roofline(result_of(*PEAKS, *rows))
    assert "experiment_0 (167)" in texts(figure.svg)
    assert len(figure.svg) < 100_000


def test_without_peaks_or_rows_there_is_no_figure() -> None:
    assert roofline(result_of()) == []
    assert roofline(result_of(row("memory/tiny/fp32", 1e9))) == []
    assert roofline(result_of(*PEAKS[2:], row("memory/tiny/fp32", 1e9))) == []
