# SPDX-License-Identifier: MIT
"""The tensors of a step, from handmade lists."""

from typing import Any

from golden import check_golden
from reports.answers.answer import answer_of
from results import entry, parsed

Entry = dict[str, Any]


def name_of(precision: str, mode: str, seq: int) -> str:
    return f"memory/tiny/{precision}/{mode}/batch:4/seq:{seq}"


def row(precision: str, mode: str, seq: int, peak: float) -> Entry:
    return entry(
        name_of(precision, mode, seq),
        1,
        f"model=tiny precision={precision} mode={mode} | largest=aten::mm in forward",
        batch=4,
        seq=seq,
        **dict.fromkeys(("own_peak_bytes", "predicted_peak_bytes"), peak),
        **{"prediction_error": 0, "largest_allocation_bytes": 10, "residual_bytes": 7},
    )


def tensors(operator: str, phase: str, count: int, one: int) -> Entry:
    made = {"operator": operator, "phase": phase, "dtype": "float", "count": count}
    made |= {"component": "softmax", "shape": "4x4x128x128"} if phase else PLAIN
    made |= {"layers": "0-3" if count > 1 else "", "bytes": one}
    return made | {"total_bytes": count * one}


PLAIN = {"component": "", "shape": ""}
KEPT = {"component": "softmax", "operator": "aten::exp", "shape": "4x4x128x128"}
BLOCK = {
    "layer": 2,
    "predicted_bytes": 3072,
    "recorded_bytes": 1032,
    "tensors": [
        KEPT | {"dtype": "float", "predicted_bytes": 1024, "recorded_bytes": 1024},
        {"component": "ffn", "operator": "aten::mm", "shape": "4x128x1"}
        | {"dtype": "float", "predicted_bytes": 2048},
        PLAIN | {"operator": "aten::where", "dtype": "double", "recorded_bytes": 8},
    ],
}


def listed(precision: str, mode: str, seq: int, **more: Any) -> Entry:
    return {
        "case": name_of(precision, mode, seq),
        "peak": {"total_bytes": 9},
        "allocations": [tensors("aten::mm", "forward", 1, 2048)],
        "at_peak": [
            tensors("aten::exp", "forward", 4, 1024),
            tensors("parameter", "", 1, 512),
        ],
    } | more


def printed(
    *steps: tuple[str, str, int, float], null: bool = False, **more: Any
) -> str:
    """Returns the tables of these steps; `more` is added to the lists of each step."""
    rows = [row(*step) | ({"real_time": 0} if null else {}) for step in steps]
    memory = [listed(*step[:3], **more) for step in steps]
    context = {"device_kind": "null_cuda" if null else "cpu"}
    answer = answer_of(parsed(*rows, memory=memory, context=context), "memory")
    assert (answer.sentence == "") == null
    return "\n\n".join(table.markdown() for table in answer.details)


def test_the_tensors_of_a_step_are_listed() -> None:
    """The train step with the highest peak comes first."""
    step = ("fp32", "train_step", 128, 10.0)
    larger = ("fp32", "train_step", 256, 20.0)
    others = (("fp32", "inference", 512, 99.0), ("bf16", "inference", 128, 5.0))
    check_golden(
        "memory.txt",
        {
            "a step": printed(step, block=BLOCK),
            "four steps": printed(others[0], step, larger, others[1]),
            "a null GPU": printed(step, null=True),
        },
    )
