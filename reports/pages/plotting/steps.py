# SPDX-License-Identifier: MIT
"""Selects the rows of model steps that a plot shows."""

from collections import Counter
from collections.abc import Sequence

from reports.results.rows import Row


def at_one_shape(rows: Sequence[Row]) -> list[Row]:
    """The rows of the most frequent batch and length, the largest if several are."""

    def shape(row: Row) -> tuple[float, float]:
        return row.get("batch") or 0, row.get("seq") or 0

    shapes = Counter(map(shape, rows))
    shown = max(
        shapes, key=lambda one: (shapes[one], one[0] * one[1], one), default=(0, 0)
    )
    return [row for row in rows if shape(row) == shown]


def tokens_of(row: Row) -> str:
    batch, seq = row.get("batch"), row.get("seq")
    if batch is None or seq is None:
        return ""
    return f" of {int(batch)} x {int(seq)} tokens"
