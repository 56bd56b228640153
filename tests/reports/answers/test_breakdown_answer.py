# SPDX-License-Identifier: MIT
"""The answer of the breakdown, from rows made by hand."""

from typing import Any

from reports.answers.breakdown import breakdown
from reports.results.rows import parse
from results import document, entry


def case(
    phase: str,
    component: str,
    share: float,
    mode: str = "forward_backward",
    seq: int = 128,
) -> dict[str, Any]:
    return entry(
        f"breakdown/tiny/fp32/{mode}/{phase}/{component}/batch:4/seq:{seq}",
        10,
        f"model=tiny precision=fp32 mode={mode} phase={phase} component={component}",
        batch=4,
        seq=seq,
        share=share,
        matmul_share=0.5,
    )


def summary(*rows: dict[str, Any]) -> tuple[str, str]:
    answer = breakdown(parse(document(*rows)))
    assert answer is not None
    return answer[0], answer[1].markdown()


STEP = (
    case("forward", "ffn", 0.2),
    case("forward", "norm", 0.1),
    case("forward", "all", 0.3),
    case("forward", "block", 0.3),
    case("backward", "ffn", 0.69),
    case("backward", "all", 0.69),
    case("step", "all", 1),
    case("step", "unattributed", 0.01),
)


def test_breakdown_has_a_column_per_phase_and_one_for_the_step() -> None:
    sentence, table = summary(*STEP)
    assert sentence == (
        "In `tiny fp32 forward_backward 4 x 128` `ffn` takes 89 % of the time; 1 % "
        "could not be attributed."
    )
    assert table.splitlines()[0] == "| component | forward | backward | step |"
    assert "| ffn | 20 % | 69 % | 89 % |" in table
    assert "| norm | 10 % | - | 10 % |" in table
    assert table.splitlines()[-1].endswith("| 50 % | 50 % | 50 % |")


def test_breakdown_shows_one_shape_of_many() -> None:
    others = (
        case("forward", "ffn", 0.5, seq=64),
        case("forward", "all", 1, seq=64),
        case("step", "all", 1, seq=64),
    )
    assert summary(*others, *STEP) == summary(*STEP)


def test_breakdown_of_forward_passes_alone_is_an_answer() -> None:
    sentence, table = summary(
        case("forward", "ffn", 0.6, "inference"), case("forward", "all", 1, "inference")
    )
    assert sentence == (
        "In `tiny fp32 inference 4 x 128` `ffn` takes 60 % of the time."
    )
    assert table.splitlines()[0] == "| component | forward | step |"
    assert table.splitlines()[-1] == "| matrix products, of each column | 50 % | - |"
