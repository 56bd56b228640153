# SPDX-License-Identifier: MIT
"""Predicted and measured memory."""

from reports.answers.cells import optional
from reports.answers.shapes import step_text
from reports.results import text
from reports.results.memory_tables import Block, Tensors
from reports.results.rows import Result, Row


def _place(findings: dict[str, str], what: str) -> str:
    """E.g. " (softmax of layer 3)" of the peak; "" in a file of before."""
    component, layer = findings.get(f"{what}_component"), findings.get(f"{what}_layer")
    if not component:
        return ""
    return f" ({component} of layer {layer})" if layer else f" ({component})"


def _peak(row: Row) -> str:
    """Who reaches the measured peak."""
    # In files of before, peak_at was the predicted moment.
    if "predicted_peak_at" not in row.findings:
        return "-"
    return row.findings.get("peak_at", "-") + _place(row.findings, "peak")


def memory(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("memory")
    if not rows:
        return None
    worst = max(abs(row["prediction_error"]) for row in rows)
    top = max(rows, key=lambda row: row["largest_allocation_bytes"])
    highest = max(rows, key=lambda row: row["own_peak_bytes"])
    sentence = (
        f"The prediction is within {text.percent(worst)} of the measured peak on all "
        f"{len(rows)} rows; the largest single allocation, "
        f"{text.size(top['largest_allocation_bytes'])}, is made by "
        f"{top.findings['largest']}{_place(top.findings, 'largest')} of "
        f"`{step_text(top)}`."
    )
    if _peak(highest) != "-":
        sentence += (
            f" The highest peak, {text.size(highest['own_peak_bytes'])} in "
            f"`{step_text(highest)}`, is reached by {_peak(highest)}."
        )
    lines = [
        [
            step_text(row),
            text.size(row["own_peak_bytes"]),
            text.size(row["predicted_peak_bytes"]),
            f"{row['prediction_error'] * 100:+.2f} %",
            text.size(row["largest_allocation_bytes"]),
            text.size(row["residual_bytes"]),
            optional(row, "logit_bytes", text.size),
            _peak(row),
        ]
        for row in rows
    ]
    headings = [
        "step",
        "measured",
        "predicted",
        "difference",
        "largest allocation",
        "residual stream",
        "logits",
        "peak reached by",
    ]
    return sentence, text.Table(headings, lines)


def _tensors_table(tensors: list[Tensors], title: str) -> text.Table:
    lines = [
        [
            one.operator or "-",
            one.component or "-",
            one.layers or "-",
            one.phase or "before",
            one.shape or "-",
            one.dtype or "-",
            str(one.count),
            text.size(one.bytes),
            text.size(one.total_bytes),
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
            tensor.component or "-",
            tensor.shape or "-",
            tensor.dtype or "-",
            _size(tensor.predicted_bytes),
            _size(tensor.recorded_bytes),
        ]
        for tensor in block.tensors
    ]
    sums = [_size(block.predicted_bytes), _size(block.recorded_bytes)]
    lines.append(["all", "", "", "", *sums])
    headings = ["made by", "component", "shape", "dtype", "predicted", "recorded"]
    title = f"What layer {block.layer} keeps for its backward pass: {step}"
    return text.Table(headings, lines, title=title)


def _shown(result: Result) -> list[Row]:
    """Of each precision the step whose tensors are listed: a train step if there is
    one, and of these the one with the highest peak."""
    listed = {table.case for table in result.memory}
    shown: dict[str, Row] = {}
    for row in result.of("memory"):
        if row.name not in listed:
            continue
        best = shown.get(row.words["precision"])
        if best is None or _rank(row) > _rank(best):
            shown[row.words["precision"]] = row
    return list(shown.values())


def _rank(row: Row) -> tuple[bool, float]:
    return row.words["mode"] == "train_step", row["own_peak_bytes"]


def details(result: Result) -> list[text.Table]:
    """The tensors of one step of each precision."""
    tables = []
    by_case = {table.case: table for table in result.memory}
    for row in _shown(result):
        step, table = step_text(row), by_case[row.name]
        tables += [
            _tensors_table(table.at_peak, f"Most bytes at the peak: {step}"),
            _tensors_table(table.allocations, f"Largest tensors made: {step}"),
        ]
        if table.block is not None:
            tables.append(_block_table(table.block, step))
    return tables
