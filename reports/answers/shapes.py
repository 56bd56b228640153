# SPDX-License-Identifier: MIT
"""What a row measured, in words: rows of different shapes do not compare."""

from collections import defaultdict
from collections.abc import Iterable

from reports.results import text
from reports.results.rows import Row


def number_of(row: Row, key: str) -> int | None:
    """The number after `key:` in the case name, e.g. of ranks."""
    return row.numbers.get(key)


def shape_text(row: Row) -> str:
    """E.g. "4 x 128", batch by tokens, or "4 x 128, 12 heads, d 64"."""
    batch, seq = row.get("batch"), row.get("seq")
    parts = []
    if batch is not None and seq is not None:
        parts.append(f"{int(batch)} x {int(seq)}")
    elif seq is not None:
        parts.append(f"T {int(seq)}")
    elif batch is not None:
        parts.append(f"batch {int(batch)}")
    if (heads := row.get("heads")) is not None:
        parts.append(text.plural(int(heads), "head"))
    if (d_head := row.get("d_head")) is not None:
        parts.append(f"d {int(d_head)}")
    return ", ".join(parts)


def without(row: Row, *keys: str) -> tuple[tuple[str, str], ...]:
    """The parameters of a row but these."""
    return tuple(sorted(p for p in row.parameters.items() if p[0] not in keys))


def case_text(row: Row, *but: str) -> str:
    """The words of a row but these, and its shape, e.g. "naive fp32 8 x 128, d 64"."""
    words = [word for key, word in row.words.items() if key not in but]
    return " ".join([*words, shape_text(row)]).strip()


def step_text(row: Row) -> str:
    """A step of a model, e.g. "tiny fp32 train_step 4 x 128"."""
    words = [row.words[key] for key in ("model", "precision", "mode")]
    return " ".join([*words, shape_text(row)]).strip()


def by_shape(rows: Iterable[Row], *words: str) -> dict[tuple[str, ...], list[Row]]:
    """The rows in groups of one shape and of the same `words`, in run order."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[*(row.words.get(word, "") for word in words), shape_text(row)].append(
            row
        )
    return dict(groups)
