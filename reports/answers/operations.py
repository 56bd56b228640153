# SPDX-License-Identifier: MIT
"""Operations that memory bounds: in one pass, by LibTorch, and written out."""

from collections import defaultdict
from collections.abc import Sequence

from reports.answers.against import Choice, choices, compared, table
from reports.answers.cells import optional
from reports.answers.comparing import least, listed
from reports.answers.implementations import IMPLEMENTATION
from reports.answers.measured import CANNOT_TELL, Measured, counter_of
from reports.answers.shapes import case_text
from reports.results import text
from reports.results.rows import Result, Row

FUSED = "fused"


def pass_text(row: Row) -> str:
    """E.g. "swiglu forward"."""
    return f"{row.words['op']} {row.words['pass']}"


def one_shape(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Of each precision the rows of the model and shape with most bytes, with the name
    of that shape before them."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        shape = case_text(row, "op", "pass", IMPLEMENTATION.word)
        groups[row.words["precision"], shape].append(row)
    largest: dict[str, str] = {}
    for precision, shape in groups:
        known = groups.get((precision, largest.get(precision, "")), [])
        if _bytes(groups[precision, shape]) > _bytes(known):
            largest[precision] = shape
    return {shape: groups[precision, shape] for precision, shape in largest.items()}


def _bytes(rows: Sequence[Row]) -> float:
    return max((row["bytes"] for row in rows), default=0.0)


def _gains(ratios: dict[str, Measured]) -> str:
    """How many passes are faster, and which gains most, as the intervals allow."""
    faster = {name: ratio for name, ratio in ratios.items() if ratio.high < 1}
    slower = {name: ratio for name, ratio in ratios.items() if ratio.low > 1}
    unclear = len(ratios) - len(faster) - len(slower)
    told = f"faster than {IMPLEMENTATION.base} in {len(faster)} of "
    told += f"{len(ratios)} passes"
    if faster:
        first, rivals = least(faster)
        told += f", most in {first}: {faster[first].text()} times the time"
        if rivals:
            told += f" ({listed(rivals)} may gain more)"
    if slower:
        names = listed([f"{n} ({ratio.text()})" for n, ratio in slower.items()])
        told += f"; slower in {names}"
    if unclear:
        told += f"; {unclear} {CANNOT_TELL}"
    return told


def _shares(rows: Sequence[Row]) -> str:
    """The range of the shares of the best rate."""
    known = [row for row in rows if row.get("bandwidth_share")]
    if not known:
        return ""
    ends = [end(known, key=lambda row: row["bandwidth_share"]) for end in (min, max)]
    low, high = (
        f"{counter_of(row, 'bandwidth_share').plus_minus(text.percent)} "
        f"({pass_text(row)})"
        for row in ends
    )
    warm = any(row.findings.get("cache") == "warm" for row in known)
    cached = ", where its data may be in the cache" if warm else ""
    return f"; it has {low} to {high} of the best memory rate measured{cached}"


def _told(shape: str, rows: Sequence[Row]) -> str:
    ratios: dict[str, Measured] = {}
    for choice in compared(rows, IMPLEMENTATION):
        row = choice.rows.get(FUSED)
        time = choice.time(row) if row else None
        if row and time:
            ratios[pass_text(row)] = time
    if not ratios:
        return ""
    fused = [row for row in rows if row.words[IMPLEMENTATION.word] == FUSED]
    return f"In `{shape}` fused is {_gains(ratios)}{_shares(fused)}."


def _share(_: Choice, row: Row) -> str:
    if row.get("bandwidth_share") is None:
        return "-"
    return counter_of(row, "bandwidth_share").plus_minus(text.percent)


def _rate(_: Choice, row: Row) -> str:
    return optional(row, "bytes_per_second", lambda rate: text.rate(rate, "B/s"))


def fused_ops(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("fused_ops")
    told = [_told(*group) for group in one_shape(rows).items()]
    if not any(told):
        return None
    columns = (("rate", _rate), ("of best rate", _share))
    return " ".join(filter(None, told)), table(choices(rows, IMPLEMENTATION), *columns)
