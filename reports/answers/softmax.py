# SPDX-License-Identifier: MIT
"""The cost of the softmax against a product of its shape."""

import math

from reports.answers.cells import ratio
from reports.answers.comparing import factor
from reports.answers.measured import CANNOT_TELL, Measured, over, time_of
from reports.answers.shapes import by_shape, shape_text
from reports.results import text
from reports.results.rows import Result, Row


def _explained(times: Measured, flops: float, bytes_: float) -> str:
    """Whether bytes predict the time better than FLOPs, and within a factor of 4."""

    def by_bytes(time: float) -> bool:
        return bool(
            abs(math.log(time / bytes_)) < abs(math.log(time / flops))
            and time / bytes_ < 4
        )

    ends = (times.low, times.value, times.high) if times.is_known else ()
    verdicts = {by_bytes(time) for time in ends}
    if verdicts == {True}:
        return "it is bytes, not FLOPs, that it spends its time on"
    if verdicts == {False}:
        return "its bytes do not explain that"
    return f"whether its bytes explain that {CANNOT_TELL}"


def _sentence(qk: Row, naive: Row) -> str:
    times = over(time_of(naive), time_of(qk))
    return (
        f"At {shape_text(naive)} in {naive.words['precision']} the naive softmax has "
        f"{text.percent(naive['flop_ratio'])} of the FLOPs of QK^T, but moves "
        f"{text.significant(naive['byte_ratio'])} times its bytes and takes "
        f"{factor(times, 'its time')}: "
        f"{_explained(times, naive['flop_ratio'], naive['byte_ratio'])}."
    )


def softmax_vs_matmul(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("softmax_vs_matmul")
    pairs = []
    for group in by_shape(rows, "precision").values():
        parts = {row.words["part"]: row for row in group}
        if {"qk", "softmax_naive"} <= set(parts):
            pairs.append((parts["qk"], parts["softmax_naive"]))
    pairs = [pair for pair in pairs if "byte_ratio" in pair[1].counters]
    if not pairs:
        return None
    lines = [
        [
            f"{row.words['part']} {row.words['precision']}, {shape_text(row)}",
            time_of(row).plus_minus(text.time),
            *(
                ratio(row, counter, row.words["part"] == "qk")
                for counter in ("time_ratio", "flop_ratio", "byte_ratio")
            ),
            text.rate(row["flops_per_second"], "FLOP/s"),
            text.rate(row["bytes_per_second"], "B/s"),
        ]
        for row in rows
    ]
    headings = ["part", "time", "time / qk", "FLOPs / qk", "bytes / qk"]
    headings += ["FLOP rate", "byte rate"]
    return _sentence(*pairs[-1]), text.Table(headings, lines)
