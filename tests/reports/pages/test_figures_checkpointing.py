# SPDX-License-Identifier: MIT
"""The plot of checkpointing shows time against memory."""

from typing import Any

from figures import texts
from reports.experiments import known
from reports.pages.figures.checkpointing import frontier
from reports.pages.plotting.figure import Figure
from reports.results.rows import parse
from results import document, entry


def row(checkpoint: str, us: float, peak_bytes: float, model: str = "tiny") -> Any:
    return entry(
        f"checkpointing/{checkpoint}/{model}/fp32/train_step/batch:1/seq:512",
        us,
        f"checkpoint={checkpoint} model={model} precision=fp32 mode=train_step",
        **{"batch": 1, "seq": 512, "half_width": 0.05, "peak_bytes": peak_bytes},
    )


def drawn(*rows: Any) -> list[Figure]:
    figures = known()["checkpointing"].figures
    assert figures is not None
    return figures(parse(document(*rows)))


def test_each_choice_is_a_point_with_its_name_beside_the_step_without() -> None:
    (figure,) = drawn(
        row("none", 100, 2000),
        row("attention", 110, 1500),
        row("every_1", 125, 1000),
        row("none", 1000, 9000, "small"),
        row("every_1", 1300, 3000, "small"),
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
    assert drawn(row("every_1", 125, 1000)) == []
    assert drawn(row("none", 100, 2000)) == []


def test_the_frontier_has_what_no_other_choice_beats_in_both() -> None:
    points = [(0.5, 1.3, "every_1"), (0.6, 1.3, "every_4"), (0.8, 1.1, "attention")]
    assert [name for _, _, name in frontier(points)] == ["every_1", "attention", "none"]
    assert [name for _, _, name in frontier([(0.9, 0.9, "every_1")])] == ["every_1"]
