# SPDX-License-Identifier: MIT
"""The plot of a step by phase and component, from rows made by hand."""

import re

import pytest

from figures import gids, texts
from reports.pages.figures.breakdown import breakdown, passes
from reports.results.rows import Row, load
from results import REFERENCE, result_of


def profiled(
    shares: dict[str, dict[str, float]],
    model: str = "tiny",
    precision: str = "fp32",
    mode: str = "train_step",
    seq: int = 128,
) -> list[Row]:
    """A step of 1 s whose phases have these shares."""
    rows = [("step", "all", 1.0)]
    for phase, components in shares.items():
        rows += [(phase, name, share) for name, share in components.items()]
    return [
        Row(
            f"breakdown/{model}/{precision}/{mode}/{phase}/{component}/seq:{seq}",
            share * 1e6,
            {
                **{"model": model, "precision": precision, "mode": mode},
                **{"phase": phase, "component": component},
            },
            {},
            {"share": share, "batch": 4.0, "seq": float(seq)},
        )
        for phase, component, share in rows
    ]


STEP = {
    "forward": {"projections": 0.1, "ffn": 0.15, "all": 0.3, "block": 0.25},
    "backward": {"ffn": 0.6, "novel": 0.05, "all": 0.65},
    "optimizer": {"optimizer": 0.04, "all": 0.04},
}


def test_every_share_is_drawn_and_what_belongs_to_nothing_is_grey() -> None:
    (figure,) = breakdown(result_of(*profiled(STEP)))
    assert figure.title == "Phases: tiny fp32 train_step, 4 x 128"
    assert gids(figure.svg, "bar-") == [
        "bar-0-projections",
        "bar-0-ffn",
        "bar-0-unattributed",  # 5 % of the forward pass
        "bar-1-ffn",
        "bar-1-novel",
        "bar-2-optimizer",
        "bar-3-unattributed",  # 1 % that belongs to no phase
    ]
    labels = texts(figure.svg)
    assert {"forward", "backward", "optimizer", "no phase", "novel"} <= set(labels)
    assert {"60 %", "300 ms", "650 ms", "share of the step's 1 s"} <= set(labels)
    assert "forward 30 %, backward 65 %" in figure.description


def test_the_shares_add_up_to_the_step() -> None:
    (step,) = passes(result_of(*profiled(STEP)))
    assert sum(step.components().values()) == pytest.approx(1)
    assert step.components()["ffn"] == pytest.approx(0.75)
    assert step.components()["unattributed"] == pytest.approx(0.06)


def test_the_time_between_operators_is_a_part_and_the_timed_step_is_none() -> None:
    step = {
        "forward": {"ffn": 0.9, "dispatch": 0.1, "all": 1.0},
        "step": {"timed": 0.95},
    }
    (figure,) = breakdown(result_of(*profiled(step)))
    assert gids(figure.svg, "bar-") == ["bar-0-ffn", "bar-0-dispatch"]


def test_models_and_contexts_stand_side_by_side() -> None:
    rows = profiled(STEP) + profiled(STEP, "small", seq=256)
    rows += profiled(STEP, "small", mode="inference")
    phases, components = breakdown(result_of(*rows))
    assert phases.title == "Phases: small fp32 train_step, 4 x 256"
    assert components.title == "Components: fp32 train_step"
    assert {"tiny", "small", "4 x 128", "4 x 256"} <= set(texts(components.svg))
    assert gids(components.svg, "bar-0") == [
        "bar-0-projections",
        "bar-0-ffn",
        "bar-0-optimizer",
        "bar-0-novel",
        "bar-0-unattributed",
    ]


def test_of_many_the_longest_of_each_model_and_all_of_the_largest_are_shown() -> None:
    rows = [
        row
        for model in ("small", "large", "xl")
        for seq in (128, 256, 512, 1024)
        for row in profiled(STEP, model, seq=seq)
    ]
    _, components = breakdown(result_of(*rows))
    chosen = re.findall(r"(\w+) 4 x (\d+) ffn", components.description)
    assert components.description.startswith("6 of 12 steps, and their largest parts")
    assert chosen == [
        *(("small", "1024"), ("large", "1024")),
        *(("xl", "128"), ("xl", "256"), ("xl", "512"), ("xl", "1024")),
    ]


def test_each_precision_has_its_own_figures() -> None:
    rows = profiled(STEP) + profiled(STEP, precision="bf16_autocast")
    titles = [figure.title for figure in breakdown(result_of(*rows))]
    assert titles == [
        "Phases: tiny fp32 train_step, 4 x 128",
        "Phases: tiny bf16_autocast train_step, 4 x 128",
    ]


def test_without_train_steps_the_last_mode_is_shown() -> None:
    rows = profiled({"forward": {"ffn": 1, "all": 1}}, mode="inference")
    (figure,) = breakdown(result_of(*rows))
    assert figure.title == "Phases: tiny fp32 inference, 4 x 128"
    assert gids(figure.svg, "bar-") == ["bar-0-ffn"]


def test_without_rows_there_is_no_figure() -> None:
    assert breakdown(result_of()) == []
    assert breakdown(result_of(*profiled({}))) != []  # all is unattributed
    parts_alone = [row for row in profiled(STEP) if "/step/" not in row.name]
    assert breakdown(result_of(*parts_alone)) == []


def test_the_reference_run_is_drawn() -> None:
    figures = breakdown(load(REFERENCE))
    assert [figure.title for figure in figures] == [
        "Phases: small fp32 train_step, 4 x 128",
        "Components: fp32 train_step",
    ]
    assert all(len(figure.svg) < 100_000 for figure in figures)
