# SPDX-License-Identifier: MIT
"""Names of cases and shapes: only rows of the same shape can be compared."""

from collections.abc import Collection, Iterable, Mapping

from reports.results import text
from reports.results.rows import Row, grouped

STEP = ("model", "precision", "mode")  # with the shape, they identify a step
_IN_SHAPE = ("batch", "seq", "heads", "d_head")


def shape_text(row: Row, but: Collection[str] = ()) -> str:
    """Formats e.g. "4 x 128", batch by tokens, or "4 x 128, 12 heads, d 64", without
    the parameters `but`."""
    batch, seq, heads, d_head = (
        None if key in but else row.get(key) for key in _IN_SHAPE
    )
    parts = []
    if batch is not None and seq is not None:
        parts.append(f"{int(batch)} x {int(seq)}")
    elif seq is not None:
        parts.append(f"T {int(seq)}")
    elif batch is not None:
        parts.append(f"batch {int(batch)}")
    if heads is not None:
        parts.append(text.plural(int(heads), "head"))
    if d_head is not None:
        parts.append(f"d {int(d_head)}")
    return ", ".join(parts)


def without(row: Row, *keys: str) -> tuple[tuple[str, str], ...]:
    """Returns the parameters of a row except these."""
    return tuple(sorted(p for p in row.parameters.items() if p[0] not in keys))


def alike(rows: Iterable[Row], *keys: str) -> list[list[Row]]:
    """Groups the rows that differ only in these parameters."""
    return list(grouped(rows, lambda row: without(row, *keys)).values())


def selected(row: Row, where: Mapping[str, str]) -> bool:
    """Returns whether the row has these parameter values."""
    return where.items() <= row.parameters.items()


def values_text(row: Row, keys: Iterable[str]) -> str:
    """Formats the values of these parameters, e.g. "everything reshard:1"."""
    return " ".join(
        row.parameters[key] if key in row.words else f"{key}:{row.parameters[key]}"
        for key in keys
        if key in row.parameters
    )


def case_text(row: Row, *but: str) -> str:
    """Formats all parameters except these, e.g. "naive fp32 ranks:2 8 x 128, d 64"."""
    words = [word for key, word in row.words.items() if key not in but]
    words += [
        f"{key}:{number}"
        for key, number in row.numbers.items()
        if key not in (*but, *_IN_SHAPE)
    ]
    return " ".join([*words, shape_text(row, but)]).strip()


def arithmetic(row: Row) -> str:
    """Returns the precision of the matrix products; under autocast it is bf16."""
    return row.words.get("precision", "fp32").removesuffix("_autocast")


def step_text(row: Row) -> str:
    """Names a step of a model, e.g. "tiny fp32 train_step 4 x 128"."""
    return " ".join([*(row.words[key] for key in STEP), shape_text(row)]).strip()
