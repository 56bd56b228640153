# SPDX-License-Identifier: MIT
"""The answer of the breakdown, from rows made by hand."""

from typing import Any

from reports.answers.breakdown import sentence, tables
from reports.results.rows import parse
from results import document, entry

Entry = dict[str, Any]


def case(
    phase: str,
    component: str,
    share: float,
    mode: str = "forward_backward",
    seq: int = 128,
    words: str = "",
    **counters: float,
) -> Entry:
    """A row of a step of 100 ms."""
    counters = {"share": share, "matmul_share": 0.5, "half_width": 0.01} | counters
    return entry(
        f"breakdown/tiny/fp32/{mode}/{phase}/{component}/batch:4/seq:{seq}",
        share * 1e5,
        f"model=tiny precision=fp32 mode={mode} phase={phase} component={component}"
        + (f" | {words}" if words else ""),
        batch=4,
        seq=seq,
        **counters,
    )


def timed(ms: float, half_width: float = 0.01, **phases: float) -> Entry:
    row = case("step", "timed", ms / 100, half_width=half_width)
    del row["share"], row["matmul_share"]
    return row | phases


def summary(*rows: Entry) -> tuple[str, list[str]]:
    result = parse(document(*rows))
    (table,) = tables(result)
    return sentence(result), table.markdown().splitlines()[2:]


STEP = (
    case("forward", "ffn", 0.2),
    case("forward", "norm", 0.08),
    case("forward", "dispatch", 0.02),
    case("forward", "all", 0.3),
    case("forward", "block", 0.3),
    case("backward", "ffn", 0.69),
    case("backward", "all", 0.69),
    case("step", "all", 1),
    case("step", "unattributed", 0.01),
)


def test_there_is_a_column_per_phase_and_one_for_the_step() -> None:
    said, table = summary(*STEP)
    assert said == (
        "In `tiny fp32 forward_backward 4 x 128` `ffn` takes most, 89 % ± 1 % of the "
        "time; 1 % could not be attributed."
    )
    assert table[0] == "| component | forward | backward | step |"
    assert "| ffn | 20 % | 69 % | 89 % ± 1 % |" in table
    assert "| norm | 8 % | - | 8 % ± 1 % |" in table
    assert "| dispatch | 2 % | - | 2 % ± 1 % |" in table
    assert table[-2] == (
        "| matrix products, of each column | 50 % ± 1 % | 50 % ± 1 % | 50 % ± 1 % |"
    )
    assert table[-1] == "| time, profiled | 30 ms | 69 ms | 100 ms |"


def test_one_shape_of_many_is_shown() -> None:
    others = (
        case("forward", "ffn", 0.5, seq=64),
        case("forward", "all", 1, seq=64),
        case("step", "all", 1, seq=64),
    )
    assert summary(*others, *STEP) == summary(*STEP)


def test_within_noise_no_component_takes_most() -> None:
    rows = (
        case("forward", "ffn", 0.31, half_width=0.2),
        case("forward", "norm", 0.3, half_width=0.2),
        case("forward", "all", 1),
        case("step", "all", 1),
    )
    assert summary(*rows)[0] == (
        "Which component of `tiny fp32 forward_backward 4 x 128` takes most cannot be "
        "told from this run: `ffn` takes 31 % ± 20 % of the time, `norm` 30 % ± 20 %."
    )


def test_a_step_that_was_profiled_once_has_no_interval() -> None:
    rows = [dict(row) for row in STEP]
    for row in rows:
        del row["p50_low_us"], row["p50_high_us"]
    said, table = summary(*rows)
    assert "takes most cannot be told from this run: `ffn` takes 89 % of the" in said
    assert "| ffn | 20 % | 69 % | 89 % |" in table


def test_the_profiled_step_stands_beside_the_timed_one() -> None:
    said, table = summary(*STEP, timed(98, forward_us=29e3, backward_us=68e3))
    assert said.startswith(
        "The profiled step takes 1.02 (1.01 to 1.03) times the timed one's 98 ms. In"
    )
    assert table[-1] == "| time without a profile | 29 ms | 68 ms | 98 ms |"


def test_a_profile_that_is_not_the_timed_step_says_so_first() -> None:
    assert summary(*STEP, timed(60))[0].startswith(
        "The profile is not the timed step: it takes 1.67 (1.64 to 1.69) times the "
        "timed one's 60 ms, so these shares may not be the timed step's. In `tiny"
    )


def test_noise_alone_does_not_make_the_profile_another_step() -> None:
    assert summary(*STEP, timed(80, half_width=0.3))[0].startswith(
        "Whether the profile is the timed step cannot be told from this run: it takes "
        "1.25 (0.926 to 1.69) times the timed one's 80 ms. In"
    )


def inference(matmul_share: float, half_width: float) -> tuple[Entry, ...]:
    def part(phase: str, component: str, share: float) -> Entry:
        return case(
            phase,
            component,
            share,
            "inference",
            matmul_share=matmul_share,
            half_width=half_width,
        )

    return (
        part("forward", "ffn", 0.6),
        part("forward", "all", 1),
        part("step", "all", 1),
    )


def test_inference_stands_beside_training() -> None:
    train = [
        case("step", "all", 1, "train_step"),
        case("forward", "all", 1, "train_step"),
    ]
    train += [case("forward", part, 0.5, "train_step") for part in ("ffn", "norm")]
    said, table = summary(*train, *inference(0.77, 0.01))
    assert said.endswith(
        "Matrix products take 77 % (76 % to 78 %) of inference and 50 % (50 % to 51 %) "
        "of the step."
    )
    assert table[0] == "| component | forward | step | inference |"
    assert "| ffn | 50 % | 50 % ± 1 % | 60 % |" in table
    assert "| norm | 50 % | 50 % ± 1 % | - |" in table
    assert table[-1] == "| time, profiled | 100 ms | 100 ms | 100 ms |"


def test_within_noise_inference_has_no_larger_share_of_products() -> None:
    said, _ = summary(*inference(0.52, 0.1), *STEP)
    assert said.endswith(
        "Matrix products take 52 % (47 % to 57 %) of inference and 50 % (50 % to 51 %) "
        "of the step; in which of the two they take more cannot be told from this run."
    )


def test_the_share_of_products_has_an_interval_of_its_own() -> None:
    whole = case("step", "all", 1, matmul_share_low=0.45, matmul_share_high=0.6)
    _, table = summary(*[row for row in STEP if row["name"] != whole["name"]], whole)
    assert table[-2].endswith("| 50 % ± 1 % | 50 % ± 15 % |")


def test_layers_that_stick_out_are_named() -> None:
    slow = case(
        "forward", "all", 1, words="top=mm, outliers=layer 3 +168 ms (rope +80 ms)"
    )
    said, _ = summary(slow, *[row for row in STEP if row["name"] != slow["name"]])
    assert said.startswith(
        "Slower than the other layers: forward layer 3 +168 ms (rope +80 ms). In"
    )


def test_forward_passes_alone_are_an_answer() -> None:
    said, table = summary(
        case("forward", "ffn", 0.6, "inference"), case("forward", "all", 1, "inference")
    )
    assert said == (
        "In `tiny fp32 inference 4 x 128` `ffn` takes 60 % ± 1 % of the time."
    )
    assert table[0] == "| component | forward | step |"
    assert table[-2] == "| matrix products, of each column | 50 % ± 1 % | - |"
