# SPDX-License-Identifier: MIT
"""The answer of the breakdown, from handmade rows."""

import advised
from advised import Entry
from golden import check_golden
from reports.answers.breakdown import sentence, tables
from results import parsed


def case(
    phase: str,
    component: str,
    share: float,
    mode: str = "forward_backward",
    **counters: float,
) -> Entry:
    """A row of a step of 100 ms."""
    counters = {"share": share, "matmul_share": 0.5, "half_width": 0.01} | counters
    step = advised.STEP.replace("train_step", mode)
    return advised.part(phase, component, share * 1e5, step, **counters)


def without_profile(ms: float, half_width: float = 0.01, **phases: float) -> Entry:
    row = case("step", "timed", ms / 100, half_width=half_width)
    del row["share"], row["matmul_share"]
    return row | phases


def summary(*rows: Entry) -> str:
    result = parsed(*rows)
    (table,) = tables(result)
    return f"{sentence(result)}\n\n{table.markdown()}"


STEP = (
    case("forward", "ffn", 0.2),
    case("forward", "norm", 0.08),
    case("forward", "dispatch", 0.02),
    case("forward", "all", 0.3),
    case("forward", "block", 0.3),
    case("backward", "ffn", 0.69),
    case("backward", "all", 0.69),
    case("step", "all", 1, unattributed_share=0.01),
    case("step", "unattributed", 0.01),
)


def part(phase: str, component: str, share: float, *of: float) -> Entry:
    """A row of inference; `of` is the share of products, and its half-width."""
    matmul_share, half_width = of or (0.5, 0.01)
    more = {"matmul_share": matmul_share, "half_width": half_width}
    return case(phase, component, share, "inference", **more)


def inference(*of: float) -> list[Entry]:
    parts = (("forward", "ffn", 0.6), ("forward", "all", 1), ("step", "all", 1))
    return [part(*one, *of) for one in parts]


def instead(row: Entry) -> list[Entry]:
    """Returns STEP with the row of this name replaced by `row`."""
    return [row, *(one for one in STEP if one["name"] != row["name"])]


NOISY = (
    case("forward", "ffn", 0.31, half_width=0.2),
    case("forward", "norm", 0.3, half_width=0.2),
    case("forward", "all", 1),
    case("step", "all", 1),
)
TRAINING = (
    case("step", "all", 1, "train_step"),
    case("forward", "all", 1, "train_step"),
    case("forward", "ffn", 0.5, "train_step"),
    case("forward", "norm", 0.5, "train_step"),
)
OUTLIER = case("forward", "all | outliers=layer 3 +168 ms (rope +80 ms)", 1)


def test_what_is_said_of_a_step() -> None:
    once = [dict(row) for row in STEP]
    for row in once:
        del row["p50_low_us"], row["p50_high_us"]
    own = case("step", "all", 1, matmul_share_low=0.45, matmul_share_high=0.6)
    own["unattributed_share"] = 0.01
    phases = {"forward_us": 29e3, "backward_us": 68e3}
    check_golden(
        "breakdown.txt",
        {
            "a step": summary(*STEP),
            "noise": summary(*NOISY),
            "profiled once, without an interval": summary(*once),
            "timed, too": summary(*STEP, without_profile(98, **phases)),
            "the profile is another step": summary(*STEP, without_profile(60)),
            "noise may make it another": summary(
                *STEP, without_profile(80, half_width=0.3)
            ),
            "inference": summary(*TRAINING, *inference(0.77, 0.01)),
            "inference within noise": summary(*inference(0.52, 0.1), *STEP),
            "an interval of the share of products": summary(*instead(own)),
            "a layer that sticks out": summary(*instead(OUTLIER)),
            "forward alone": summary(
                part("forward", "ffn", 0.6), part("forward", "all", 1)
            ),
        },
    )
