# SPDX-License-Identifier: MIT
"""Selects the rows of model steps that a plot shows."""

from collections import Counter
from collections.abc import Sequence

from reports.results.rows import Row


def at_one_length(rows: Sequence[Row]) -> list[Row]:
    """The rows of the most frequent sequence length, the longest if several are."""
    lengths = Counter(row.get("seq") or 0 for row in rows)
    shown = max(lengths, key=lambda seq: (lengths[seq], seq), default=0)
    return [row for row in rows if (row.get("seq") or 0) == shown]


def tokens_of(row: Row) -> str:
    batch, seq = row.get("batch"), row.get("seq")
    if batch is None or seq is None:
        return ""
    return f" of {int(batch)} x {int(seq)} tokens"
