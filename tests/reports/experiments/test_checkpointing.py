# SPDX-License-Identifier: MIT
"""The answer and the plot about checkpointing, from rows made by hand."""

from typing import Any

from answered import answered
from figures import texts
from reports.answers import answers
from reports.experiments import known
from reports.experiments.checkpointing import frontier
from reports.pages.plotting.figure import Figure
from reports.results.rows import parse
from results import document, entry


def row(checkpoint: str, us: float, **more: float) -> dict[str, Any]:
    return row_of("tiny", checkpoint, us, **more)


def row_of(model: str, checkpoint: str, us: float, **more: float) -> dict[str, Any]:
    counters = {"batch": 1.0, "seq": 512.0, "half_width": 0.01, "flops": 1e10} | more
    return entry(
        f"checkpointing/{checkpoint}/{model}/fp32/train_step/batch:1/seq:512",
        us,
        f"checkpoint={checkpoint} model={model} precision=fp32 mode=train_step",
        **counters,
    )


def fitting(batch: float, seq: float) -> dict[str, float]:
    return {"largest_batch": batch, "largest_seq": seq}


BASE = row(
    "none",
    100,
    peak_bytes=2000,
    predicted_peak_bytes=2000,
    mfu_measured=0.4,
    **fitting(600, 14000),
)


def test_the_choice_that_makes_most_room_is_told_with_its_price() -> None:
    sentence, table = answered(
        "checkpointing",
        BASE,
        row("attention", 110, peak_bytes=1500, **fitting(900, 20000)),
        row(
            "every_1",
            125,
            peak_bytes=1010,
            predicted_peak_bytes=1000,
            recomputed_flops=2.5e9,
            mfu_measured=0.32,
            hfu_measured=0.4,
            **fitting(1800, 18000),
        ),
    )
    assert sentence == (
        "In `tiny fp32 train_step 1 x 512`, by dry runs, the batch that fits "
        "grows most with every_1, 3 times, from 600 to 1,800 sequences; the measured "
        "step takes 1.25 (1.23 to 1.27) times none's time; the context that fits "
        "grows most with attention, 1.43 times, from 14,000 to 20,000 tokens; the "
        "measured step takes 1.1 (1.08 to 1.12) times none's time."
    )
    cells = [line.split(" | ")[1:] for line in table.splitlines()[2:]]
    assert [line[0] for line in cells] == ["none", "attention", "every_1"]
    assert cells[0][3:] == [
        *("1.95 KiB", "1", "+0.00 %", "0 %", "40 %", "40 %", "600", "14,000 |")
    ]
    assert cells[2][3:] == [
        *("1010 B", "0.505", "+1.00 %", "25 %", "32 %", "40 %"),
        *("1,800 (3x)", "18,000 (1.29x) |"),
    ]


def test_a_step_without_room_to_gain_says_so() -> None:
    sentence, _ = answered(
        "checkpointing", BASE, row("every_1", 120, **fitting(600, 14000))
    )
    assert sentence == (
        "In `tiny fp32 train_step 1 x 512`, by dry runs, no choice makes room for "
        "a larger batch or context."
    )


def test_without_a_baseline_there_is_no_answer() -> None:
    result = parse(document(row("every_1", 120)))
    assert answers(result) == []


def drawn(*rows: Any) -> list[Figure]:
    figures = known()["checkpointing"].figures
    assert figures is not None
    return figures(parse(document(*rows)))


def test_each_choice_is_a_point_with_its_name_beside_the_step_without() -> None:
    (figure,) = drawn(
        row("none", 100, peak_bytes=2000),
        row("attention", 110, peak_bytes=1500),
        row("every_1", 125, peak_bytes=1000),
        row_of("small", "none", 1000, peak_bytes=9000),
        row_of("small", "every_1", 1300, peak_bytes=3000),
    )
    assert figure.title == "Time against memory of checkpointed steps"
    assert {"none", "attention", "every_1", "peak memory", "time"} <= set(
        texts(figure.svg)
    )
    assert {"tiny fp32 train_step 1 x 512", "small fp32 train_step 1 x 512"} <= set(
        texts(figure.svg)
    )
    assert "1 x 512 tokens" in figure.description


def test_without_a_step_to_compare_with_nothing_is_drawn() -> None:
    assert drawn(row("every_1", 125, peak_bytes=1000)) == []
    assert drawn(row("none", 100, peak_bytes=2000)) == []


def test_the_frontier_has_what_no_other_choice_beats_in_both() -> None:
    points = [(0.5, 1.3, "every_1"), (0.6, 1.3, "every_4"), (0.8, 1.1, "attention")]
    assert [name for _, _, name in frontier(points)] == ["every_1", "attention", "none"]
    assert [name for _, _, name in frontier([(0.9, 0.9, "every_1")])] == ["every_1"]
