# SPDX-License-Identifier: MIT
"""The tensors of recorded steps."""

from reports.answers.shapes import step_text
from reports.results import text
from reports.results.profiles import Block, Tensors
from reports.results.rows import Result, Row


def _tensors_table(tensors: list[Tensors], title: str) -> text.Table:
    lines = [
        [
            *(word or "-" for word in (one.operator, one.component, one.layers)),
            *(one.phase or "before", one.shape or "-", one.dtype or "-"),
            *(str(one.count), text.size(one.bytes), text.size(one.total_bytes)),
        ]
        for one in tensors
    ]
    headings = [
        *("made by", "component", "layers", "phase", "shape", "dtype"),
        *("tensors", "one", "all"),
    ]
    return text.Table(headings, lines, title=title)


def _size(count: int | None) -> str:
    return "-" if count is None else text.size(count)


def _block_table(block: Block, step: str) -> text.Table:
    lines = [
        [
            tensor.operator or "-",
            *(w or "-" for w in (tensor.component, tensor.shape, tensor.dtype)),
            *(_size(tensor.predicted_bytes), _size(tensor.recorded_bytes)),
        ]
        for tensor in block.tensors
    ]
    sums = [_size(block.predicted_bytes), _size(block.recorded_bytes)]
    lines.append(["all", "", "", "", *sums])
    headings = ["made by", "component", "shape", "dtype", "predicted", "recorded"]
    title = f"What layer {block.layer} keeps for its backward pass: {step}"
    return text.Table(headings, lines, title=title)


def details(result: Result) -> list[text.Table]:
    """Makes tables of the recorded steps' tensors, train steps and high peaks first."""
    by_case = {table.case: table for table in result.memory}
    rows = [row for row in result.of("memory") if row.name in by_case]
    tables = []
    for row in sorted(rows, key=_rank, reverse=True):
        step, table = step_text(row), by_case[row.name]
        tables += [
            _tensors_table(table.at_peak, f"Most bytes at the peak: {step}"),
            _tensors_table(table.allocations, f"Largest tensors made: {step}"),
        ]
        if table.block is not None:
            tables.append(_block_table(table.block, step))
    return tables


def _rank(row: Row) -> tuple[bool, float]:
    return row.words["mode"] == "train_step", row["own_peak_bytes"]
