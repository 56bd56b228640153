# SPDX-License-Identifier: MIT
"""The answers about other ways to run the same step, from rows made by hand."""

from typing import Any

import pytest

from answered import answered
from implementation_rows import op, row, step
from reports.answers import answers
from reports.results.rows import parse
from results import document, entry


def test_each_implementation_stands_beside_the_textbook_of_its_step() -> None:
    sentence, table = answered(
        "implementations",
        step("textbook", 100, peak_bytes=2048),
        step("library", 99, peak_bytes=1024),
        step("fused", 50, peak_bytes=512),
        step("fused", 10, "tiny", "bf16"),  # no textbook beside it
    )
    assert sentence == (
        "In `tiny fp32 forward_backward 4 x 128` library takes 0.99 (0.976 to 1) times "
        "textbook's time (more or less cannot be told from this run: about 6 "
        "runs would tell) and 0.5 times its peak memory; fused takes 0.5 (0.493 to "
        "0.507) times textbook's time and 0.25 times its peak memory."
    )
    assert [line.split(" | ")[1:] for line in table.splitlines()[2:]] == [
        ["textbook", "100 us ± 1 %", "1", "2 KiB", "1 |"],
        ["library", "99 us ± 1 %", "0.99 (0.976 to 1)", "1 KiB", "0.5 |"],
        ["fused", "50 us ± 1 %", "0.5 (0.493 to 0.507)", "512 B", "0.25 |"],
        ["fused", "10 us ± 1 %", "-", "-", "- |"],
    ]


def test_of_many_steps_the_smallest_and_the_largest_model_are_told() -> None:
    models = {"medium": 20.0, "tiny": 1.0, "large": 40.0}
    rows = [
        step(name, us * size, model, precision, flops=size * seq, seq=seq)
        for model, size in models.items()
        for precision in ("fp32", "bf16")
        for seq in (128, 512)
        for name, us in (("textbook", 10), ("fused", 5))
    ]
    sentence, table = answered("implementations", *rows)
    told = [part.partition("`")[0] for part in sentence.split("In `")[1:]]
    assert told == [
        f"{model} {precision} forward_backward 4 x 512"
        for precision in ("fp32", "bf16")
        for model in ("tiny", "large")
    ]
    assert len(table.splitlines()) == 2 + len(rows)


def test_without_the_baseline_there_is_no_answer() -> None:
    result = parse(document(step("fused", 50), step("library", 60)))
    assert answers(result) == []


def forward(runtime: str, us: float, **more: float) -> dict[str, Any]:
    words = ("tiny", "fp32", "inference")
    return row("compiled", ("runtime", runtime), us, words, **more)


def test_what_a_compiler_gains_and_what_it_changes() -> None:
    sentence, table = answered(
        "compiled",
        forward("eager", 100, peak_bytes=1024),
        forward(
            "aoti", 60, peak_bytes=512, textbook_error=3.21e-7, compile_seconds=33.5
        ),
    )
    assert sentence == (
        "In `tiny fp32 inference 4 x 128` aoti takes 0.6 (0.592 to 0.609) times "
        "eager's time and 0.5 times its peak memory. What is compiled differs from "
        "eager by at most 3.2e-07 on 1 row."
    )
    assert table.splitlines()[2].endswith("| 1 | 1 KiB | 1 | - | - |")
    assert table.splitlines()[3].endswith("| 512 B | 0.5 | 3.2e-07 | 33.5 s |")


def test_compiled_attention_is_told_as_the_smallest_work() -> None:
    attention = [
        entry(
            f"compiled/{runtime}/attention/fp32/forward_backward/batch:8/seq:256",
            us,
            f"runtime={runtime} work=attention precision=fp32 phase=forward_backward",
            **{"batch": 8, "seq": 256, "flops": 1e6, "half_width": 0.01},
        )
        for runtime, us in (("eager", 30.0), ("aoti", 15.0))
    ]
    models = [forward(runtime, 100, flops=1e9) for runtime in ("eager", "aoti")]
    sentence, _ = answered("compiled", *models, *attention)
    told = [part.partition("`")[0] for part in sentence.split("In `")[1:]]
    assert told == [
        "attention fp32 forward_backward 8 x 256",
        "tiny fp32 inference 4 x 128",
    ]


def launched(launch: str, us: float, **more: float) -> dict[str, Any]:
    words = ("tiny", "fp32", "train_step")
    return row("cuda_graph", ("launch", launch), us, words, **more)


GRAPH = {
    **{"capture_us": 410, "nodes_per_step": 670, "pool_bytes": 2048},
    **{"peak_bytes": 1024, "replay_error": 0},
}


@pytest.mark.parametrize(("us", "paid"), [(20, "6"), (99.5, "unknown"), (150, "never")])
def test_a_graph_pays_its_recording_back(us: float, paid: str) -> None:
    sentence, table = answered(
        "cuda_graph",
        launched("eager", 100, peak_bytes=1024),
        launched("graph", us, **GRAPH),
    )
    assert sentence.startswith("In `tiny fp32 train_step 4 x 128` graph takes ")
    assert sentence.endswith(
        " and 1 times its peak memory. A replay differs from an eager call by at most "
        "0 on 1 row."
    )
    cells = "| recorded in | nodes | pool | replays to pay back |"
    assert table.splitlines()[0].endswith(cells)
    assert table.splitlines()[2].endswith("| 1 KiB | 1 | - | - | - | - |")
    assert table.splitlines()[3].endswith(f"| 410 us | 670 | 2 KiB | {paid} |")


def test_attention_in_a_graph_is_a_line_of_the_table() -> None:
    attention = [
        entry(
            f"cuda_graph/{launch}/attention/own/bf16/batch:8/seq:256/d_head:64",
            us,
            f"launch={launch} work=attention variant=own precision=bf16",
            **{"batch": 8, "seq": 256, "d_head": 64, "half_width": 0.01},
        )
        for launch, us in (("eager", 30.0), ("graph", 15.0))
    ]
    steps = (launched("eager", 100), launched("graph", 20, **GRAPH))
    sentence, table = answered("cuda_graph", *attention, *steps)
    assert "attention" not in sentence
    assert (
        "| attention own bf16 8 x 256, d 64 | graph | 15 us ± 1 % | 0.5 (0.493 to 0.507"
    ) in table


def test_fused_operations_are_graded_by_the_memory_rate() -> None:
    sentence, table = answered(
        "fused_ops",
        op("swiglu", "textbook", 100, bandwidth_share=0.3),
        op("swiglu", "library", 90, bandwidth_share=0.4),
        op("swiglu", "fused", 40, bandwidth_share=0.9),
        op("rope", "textbook", 100),
        op("rope", "fused", 99.9, bandwidth_share=0.5),
        op("rope", "textbook", 100, "backward"),
        op("rope", "fused", 200, "backward", bandwidth_share=0.8),
        # A shape with fewer bytes is in the table alone.
        op("swiglu", "textbook", 10, seq=64, bytes=1e3),
        op("swiglu", "fused", 1, seq=64, bytes=1e3, bandwidth_share=2),
    )
    assert sentence == (
        "In `small fp32 4 x 128` fused is faster than textbook in 1 of 3 passes, most "
        "in swiglu forward: 0.4 (0.394 to 0.406) times the time; slower in rope "
        "backward (2 (1.97 to 2.03)); 1 cannot be told from this run; it has 50 % ± 1 "
        "% (rope forward) to 90 % ± 1 % (swiglu forward) of the best memory rate "
        "measured."
    )
    assert (
        "| swiglu small fp32 forward 4 x 128 | fused | 40 us ± 1 % | 0.4 (0.394 to "
        "0.406) | - | - | 25 GB/s | 90 % ± 1 % |"
    ) in table
    assert "| swiglu small fp32 forward 4 x 64 | fused |" in table
    assert "| rope small fp32 forward 4 x 128 | textbook | 100 us ± 1 % | 1 |" in table


def test_noise_alone_chooses_no_operation() -> None:
    ops = {"swiglu": 40, "add_rms_norm": 41, "rope": 80}
    rows = [
        op(name, implementation, us, half_width=0.02)
        for name, fused in ops.items()
        for implementation, us in (("textbook", 100), ("fused", fused))
    ]
    sentence, _ = answered("fused_ops", *rows)
    assert sentence == (
        "In `small fp32 4 x 128` fused is faster than textbook in 3 of 3 passes, most "
        "in swiglu forward: 0.4 (0.389 to 0.411) times the time (add_rms_norm forward "
        "may gain more)."
    )
