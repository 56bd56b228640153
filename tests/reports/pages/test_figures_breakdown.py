# SPDX-License-Identifier: MIT
"""The plot of a step by phase and component, from handmade rows."""

from figures import gids, texts
from reports.pages.figures.breakdown import MOST_STEPS, breakdown
from reports.results.rows import Row
from results import result_of


def profiled(
    shares: dict[str, dict[str, float]],
    model: str = "tiny",
    mode: str = "train_step",
    seq: int = 128,
) -> list[Row]:
    """Returns a step of 1 s with these shares per phase."""
    rows = [("step", "all", 1.0)]
    for phase, components in shares.items():
        rows += [(phase, name, share) for name, share in components.items()]
    step = {"model": model, "precision": "fp32", "mode": mode}
    return [
        Row(
            f"breakdown/{model}/fp32/{mode}/{phase}/{component}/seq:{seq}",
            share * 1e6,
            step | {"phase": phase, "component": component},
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
    assert figure.title == "Phases: tiny fp32 train_step 4 x 128"
    assert gids(figure.svg, "bar-") == [
        "bar-0-projections",
        "bar-0-ffn",
        "bar-0-unattributed",  # 5 % of the forward pass
        "bar-1-ffn",
        "bar-1-novel",
        "bar-2-optimizer",
        "bar-3-unattributed",  # 1 % without a phase
    ]
    assert {"no phase", "60 %", "300 ms", "650 ms"} <= set(texts(figure.svg))


def test_the_components_of_all_steps_stand_below_each_other() -> None:
    rows = profiled(STEP) + profiled(STEP, "small", seq=256)
    rows += profiled(STEP, "small", mode="inference")
    phases, components = breakdown(result_of(*rows))
    assert phases.title == "Phases: small fp32 train_step 4 x 256"
    labels = set(texts(components.svg))
    assert {"tiny fp32 train_step 4 x 128", "small fp32 inference 4 x 128"} <= labels
    assert "75 %" in labels, "of the step, in both of its phases"
    many = [r for n in range(20) for r in profiled(STEP, f"model{n}")]
    _, components = breakdown(result_of(*many))
    assert components.description.startswith(f"The components of {MOST_STEPS} of 20")


def test_without_train_steps_the_last_mode_is_shown() -> None:
    rows = profiled({"forward": {"ffn": 1, "all": 1}}, mode="inference")
    (figure,) = breakdown(result_of(*rows))
    assert figure.title == "Phases: tiny fp32 inference 4 x 128"
    assert gids(figure.svg, "bar-") == ["bar-0-ffn"]


def test_without_rows_there_is_no_figure() -> None:
    assert breakdown(result_of()) == []
    assert breakdown(result_of(*profiled({}))) != []  # everything is unattributed
    parts_alone = [row for row in profiled(STEP) if "/step/" not in row.name]
    assert breakdown(result_of(*parts_alone)) == []
