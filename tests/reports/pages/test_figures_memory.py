# SPDX-License-Identifier: MIT
"""The plots of memory: the parts of the peak, and the memory over time, also of files
that an earlier version wrote."""

from pathlib import Path

import numpy as np
import pytest

from figures import gids, markers, texts
from reports.pages.figures.memory import memory
from reports.pages.figures.timelines import BUCKETS, decimate, timelines
from reports.results.rows import Row
from results import result_of

HEAD = "time_us,live_bytes,event,bytes,operator,phase\n"


def step(mode: str, seq: int, moment: str, error: float, *mib: float) -> Row:
    """`mib`: parameters, gradients, optimizer, saved tensors, and predicted peak."""
    keys = ("parameter", "gradient", "optimizer", "saved", "peak")
    counters = {
        f"predicted_{key}_bytes": size * 2**20
        for key, size in zip(keys, mib, strict=True)
    }
    counters["own_peak_bytes"] = counters["predicted_peak_bytes"] * (1 + error)
    counters |= {"prediction_error": error, "batch": 4.0, "seq": float(seq)}
    words = {"model": "tiny", "precision": "fp32", "mode": mode}
    findings = {"peak_at": "aten::mm in loss", "predicted_peak_at": moment}
    return Row(f"memory/{mode}/{seq}", 1, words, findings, counters)


def drawn(*rows: Row) -> str:
    (figure,) = memory(result_of(*rows))
    assert figure.title == "Peak memory: tiny"
    return figure.svg


IN_FORWARD = "aten::mm in forward, lm_head"
IN_HEAD = "aten::new_zeros (GatherBackward0) in backward, cross_entropy"
IN_BLOCK = "aten::mm (MmBackward0) in backward, ffn of layer 3"
AT_END = "aten::zeros (EmbeddingBackward0) in backward, embedding"


@pytest.mark.parametrize(
    "moments",
    [
        (IN_FORWARD, IN_HEAD, AT_END, IN_BLOCK),
        # From older files.
        ("logits", "loss backward", "end of backward", "W2 backward of the last block"),
    ],
)
def test_the_parts_are_those_that_live_at_the_moment_of_the_peak(
    moments: tuple[str, str, str, str],
) -> None:
    svg = drawn(
        step("inference", 1, moments[0], 0, 10, 0, 0, 0, 14),
        step("train_step", 2, moments[1], 0, 10, 10, 20, 30, 80),
        step("train_step", 3, moments[2], 0, 10, 10, 20, 30, 40),
        step("train_step", 4, moments[3], 0, 10, 10, 20, 9, 50),
    )
    assert gids(svg, "bar-") == [
        *("bar-0-parameters", "bar-0-temporary"),
        *("bar-1-parameters", "bar-1-optimizer-state"),
        *("bar-1-saved-for-backward", "bar-1-temporary"),
        *("bar-2-parameters", "bar-2-optimizer-state", "bar-2-gradients"),
        *("bar-3-parameters", "bar-3-optimizer-state"),
        *("bar-3-saved-and-gradients", "bar-3-temporary"),
    ]


def test_the_measured_peak_and_the_difference_are_written() -> None:
    svg = drawn(
        step("inference", 128, IN_FORWARD, 0, 10, 0, 0, 0, 16),
        step("forward", 128, IN_FORWARD, -0.0123, 10, 0, 0, 5, 16),
        step("forward", 256, IN_FORWARD, 1e-9, 10, 0, 0, 5, 16),
        step("forward", 512, IN_FORWARD, 0.0123, 10, 0, 0, 5, 16),
    )
    labels = texts(svg)
    assert {"fp32", "inference 4 x 128", "forward 4 x 256"} <= set(labels)
    assert {"16 MiB, exact", "15.8 MiB, -1.23 %", "16 MiB, ±0.00 %"} <= set(labels)
    assert "16.2 MiB, +1.23 %" in labels
    assert sum(markers(svg, f"mark-{place}") for place in range(4)) == 4


def test_decimation_keeps_the_peak_and_every_extreme_of_its_bucket() -> None:
    times = np.linspace(0, 1, 20_000)
    values = np.random.default_rng(0).normal(size=len(times))
    values[7_777], values[12_345] = 1e3, -1e3
    kept = decimate(times, values)
    assert len(kept) <= 4 * BUCKETS
    assert {0, 7_777, 12_345, len(times) - 1} <= set(kept)
    assert (np.diff(kept) > 0).all()
    buckets = np.minimum((times * BUCKETS).astype(int), BUCKETS - 1)
    for bucket in range(BUCKETS):
        inside, shown = values[buckets == bucket], kept[buckets[kept] == bucket]
        assert inside.max() == values[shown].max()
        assert inside.min() == values[shown].min()


def test_few_points_and_points_at_one_moment_are_decimated_too() -> None:
    few = np.arange(3.0)
    assert list(decimate(few, few)) == [0, 1, 2]
    still = np.zeros(1000)
    values = np.arange(1000.0)
    assert list(decimate(still, values)) == [0, 999]


def trace(directory: Path, name: str, *events: str) -> None:
    (directory / f"{name}.csv").write_text(HEAD + "\n".join(events) + "\n")


def test_a_timeline_shows_its_phases_and_its_peak(tmp_path: Path) -> None:
    trace(
        *(tmp_path, "memory_tiny_bf16_autocast_train_step_batch_4_seq_128"),
        "0.5,1048576,alloc,1048576,aten::mm,forward",
        "100,3145728,alloc,2097152,aten::exp,loss",
        '120,3145000,free,728,"a, b",backward',
        "900,2097152,free,1047848,,backward",
        "990,1048576,free,1048576,,optimizer",
    )
    (figure,) = timelines(tmp_path)
    assert figure.title == ("Memory over time: tiny bf16_autocast train_step, 4 x 128")
    assert "the 5 allocations" in figure.description
    assert "from 1 MiB to a peak of 3 MiB in loss" in figure.description
    assert "peak 3 MiB, aten::exp" in texts(figure.svg)
    phases = ("forward", "loss", "backward", "optimizer")
    assert gids(figure.svg, "phase-") == [f"phase-{name}" for name in phases]


def test_what_is_before_the_first_step_begins_none(tmp_path: Path) -> None:
    rows = [
        "time_us,live_bytes,event,bytes,operator,phase,step,component,layer,shape,dtype",
        "1,8,alloc,8,aten::empty,none,0,,,2,float",
        "2,16,alloc,8,aten::mm,forward,1,softmax,3,2,float",
    ]
    (tmp_path / "memory_a.csv").write_text("\n".join(rows) + "\n")
    (figure,) = timelines(tmp_path)
    assert gids(figure.svg, "begin-") == []
    assert figure.description.endswith("in forward, softmax of layer 3.")
    assert "steps" not in figure.description


def test_train_steps_come_first_and_what_is_beyond_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.pages.figures.timelines.MOST", 2)
    for mode, seqs in (("forward", range(3)), ("train_step", range(1))):
        for seq in seqs:
            name = f"memory_tiny_fp32_{mode}_batch_4_seq_{seq}"
            trace(tmp_path, name, "1,5,alloc,5,op,forward")
    trace(tmp_path, "memory_nothing")
    (tmp_path / "memory_other.pickle").write_text("not a trace")
    figures = timelines(tmp_path)
    assert len(figures) == 2
    assert "train_step, 4 x 0" in figures[0].title
    assert figures[-1].description.endswith("2 further timelines are not shown.")
    assert "further" not in figures[0].description


def test_without_traces_there_is_no_figure(tmp_path: Path) -> None:
    assert timelines(tmp_path) == []
    assert timelines(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    "content", ["", "a,b\n1,2\n", HEAD + "x,y,alloc,1,op,forward\n", HEAD + '"1,2']
)
def test_what_is_no_trace_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "memory_bad.csv").write_text(content)
    with pytest.raises(ValueError, match=r"memory_bad\.csv: "):
        timelines(tmp_path)
