# SPDX-License-Identifier: MIT
"""The tensors of a step, from lists made by hand."""

from typing import Any

import pytest

from reports.answers.answer import answer_of
from reports.results.rows import NotAResult, Result, parse
from results import document, entry

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
        own_peak_bytes=peak,
        predicted_peak_bytes=peak,
        prediction_error=0,
        largest_allocation_bytes=10,
        residual_bytes=7,
    )


def tensors(operator: str, phase: str, count: int, one: int) -> Entry:
    return {
        "operator": operator,
        "component": "softmax" if phase else "",
        "phase": phase,
        "shape": "4x4x128x128" if phase else "",
        "dtype": "float",
        "bytes": one,
        "layers": "0-3" if count > 1 else "",
        "count": count,
        "total_bytes": count * one,
    }


KEPT = {
    "component": "softmax",
    "operator": "aten::exp",
    "shape": "4x4x128x128",
    "dtype": "float",
    "predicted_bytes": 1024,
    "recorded_bytes": 1024,
}
BLOCK = {
    "layer": 2,
    "predicted_bytes": 3072,
    "recorded_bytes": 1032,
    "tensors": [
        KEPT,
        # As in a file of before.
        {"tensor": "gate", "component": "ffn", "dtype": "float", "formula": "B T d_ff"}
        | {"elements": 512, "predicted_bytes": 2048},
        {"component": "", "shape": "", "dtype": "double"}
        | {"operator": "aten::where", "recorded_bytes": 8},
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


def result(*rows: Entry, memory: list[Entry], **context: str) -> Result:
    return parse(document(*rows, memory=memory, context=context))


def lines(table: Any) -> list[list[str]]:
    return [list(line) for line in table.lines]


def test_the_tensors_of_a_step_are_listed() -> None:
    made = result(
        row("fp32", "train_step", 128, 9),
        memory=[listed("fp32", "train_step", 128, block=BLOCK)],
    )
    at_peak, largest, block = answer_of(made, "memory").details
    step = "tiny fp32 train_step 4 x 128"
    assert at_peak.title == f"Most bytes at the peak: {step}"
    shape = ["4x4x128x128", "float"]
    assert lines(at_peak) == [
        ["aten::exp", "softmax", "0-3", "forward", *shape, "4", "1 KiB", "4 KiB"],
        ["parameter", "-", "-", "before", "-", "float", "1", "512 B", "512 B"],
    ]
    assert largest.title == f"Largest tensors made: {step}"
    assert [line[0] for line in lines(largest)] == ["aten::mm"]
    assert block.title == f"What layer 2 keeps for its backward pass: {step}"
    assert lines(block) == [
        ["aten::exp", "softmax", *shape, "1 KiB", "1 KiB"],
        ["gate", "ffn", "-", "float", "2 KiB", "-"],
        ["aten::where", "-", "-", "double", "-", "8 B"],
        ["all", "", "", "", "3 KiB", "1.01 KiB"],
    ]


def test_the_train_step_with_the_highest_peak_is_the_first() -> None:
    steps = [
        ("fp32", "inference", 512, 99.0),
        ("fp32", "train_step", 128, 10.0),
        ("fp32", "train_step", 256, 20.0),
        ("bf16_autocast", "inference", 128, 5.0),
    ]
    made = result(
        *(row(*step) for step in steps), memory=[listed(*step[:3]) for step in steps]
    )
    titles = [table.title for table in answer_of(made, "memory").details]
    assert len(titles) == 8
    assert titles[:2] == [
        "Most bytes at the peak: tiny fp32 train_step 4 x 256",
        "Largest tensors made: tiny fp32 train_step 4 x 256",
    ]


def test_a_null_gpu_has_tensors_but_no_answer() -> None:
    made = result(
        row("fp32", "train_step", 128, 9) | {"real_time": 0},
        memory=[listed("fp32", "train_step", 128)],
        device_kind="null_cuda",
    )
    assert answer_of(made, "memory").sentence == ""
    assert len(answer_of(made, "memory").details) == 2


def test_a_file_of_before_has_no_tensors() -> None:
    made = parse(document(row("fp32", "train_step", 128, 9)))
    assert answer_of(made, "memory").details == []
    assert answer_of(made, "memory").sentence != ""


@pytest.mark.parametrize(
    "damage",
    [
        {"at_peak": [{"operator": "aten::mm"}]},
        {"allocations": [tensors("a", "", 1, 1) | {"bytes": "many"}]},
        {"block": {"layer": 1}},
        {"block": BLOCK | {"tensors": [KEPT | {"recorded_bytes": "x"}]}},
    ],
)
def test_damaged_lists_are_refused(damage: Entry) -> None:
    with pytest.raises(NotAResult):
        result(memory=[listed("fp32", "train_step", 128) | damage])
