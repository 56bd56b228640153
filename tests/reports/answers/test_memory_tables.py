# SPDX-License-Identifier: MIT
"""The tensors of a step that lacks some of what the committed run has."""

from typing import Any

import advised
from advised import Entry
from golden import check_golden
from reports.answers.answer import answer_of
from results import parsed


def tensors(operator: str, phase: str, count: int, one: int) -> Entry:
    made = {"operator": operator, "phase": phase, "count": count}
    made |= SOFTMAX if phase else PLAIN
    made |= {"layers": "0-3" if count > 1 else "", "bytes": one}
    return made | {"total_bytes": count * one}


PLAIN = {"component": "", "shape": "", "dtype": ""}
SOFTMAX = {"component": "softmax", "shape": "4x4x128x128", "dtype": "float"}
KEPT = SOFTMAX | {"operator": "aten::exp"}
BLOCK = {
    "layer": 2,
    "predicted_bytes": 3072,
    "recorded_bytes": 1032,
    "tensors": [
        KEPT | {"predicted_bytes": 1024, "recorded_bytes": 1024},
        {"component": "ffn", "operator": "aten::mm", "shape": "4x128x1"}
        | {"dtype": "float", "predicted_bytes": 2048},
        PLAIN | {"recorded_bytes": 8},
    ],
}


def test_the_tensors_of_a_step_are_listed() -> None:
    step = advised.step("memory", 1, own_peak_bytes=10.0)
    table: dict[str, Any] = {
        "case": step["name"],
        "peak": {"total_bytes": 9},
        "allocations": [tensors("aten::mm", "forward", 1, 2048)],
        "at_peak": [
            tensors("aten::exp", "forward", 4, 1024),
            tensors("parameter", "", 1, 512),
        ],
        "block": BLOCK,
    }
    details = answer_of(parsed(step, memory=[table]), "memory").details
    printed = "\n\n".join(one.markdown() for one in details)
    check_golden("memory.txt", {"a step": printed})
