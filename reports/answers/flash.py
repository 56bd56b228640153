# SPDX-License-Identifier: MIT
"""The arithmetic rate of attention kernels over sequence length."""

from collections import defaultdict
from collections.abc import Sequence

from reports.answers.comparing import factor
from reports.answers.measured import counter_of, over, time_of
from reports.answers.shapes import shape_text
from reports.results import text
from reports.results.rows import Result, Row

RATE = "kernel_flops_per_second"
OWN = "own"
_LIBRARY = "sdpa_"
_WORDS = ("variant", "precision", "phase")


def series_of(rows: Sequence[Row]) -> dict[tuple[str, ...], list[Row]]:
    """The rows that differ in sequence length alone: by variant, precision, phase,
    heads and head size."""
    series: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        if row.get(RATE):
            sizes = (f"{int(row[size])}" for size in ("heads", "d_head"))
            series[*(row.words[word] for word in _WORDS), *sizes].append(row)
    return dict(series)


def _rate(row: Row) -> str:
    return counter_of(row, RATE).plus_minus(lambda rate: text.rate(rate, "FLOP/s"))


def _library(rows: Sequence[Row], own: Row) -> Row | None:
    """The fastest kernel of the library in the shape of ours."""
    rivals = [
        row
        for row in rows
        if row.words["variant"].startswith(_LIBRARY)
        and row.words["phase"] == own.words["phase"]
    ]
    return min(rivals, key=lambda row: row.time_us, default=None)


def _told(rows: Sequence[Row]) -> str:
    """Of the largest shape of these rows in which both are."""
    shapes: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        shapes[shape_text(row)].append(row)
    largest: dict[str, list[tuple[Row, Row]]] = {}
    for shape, alike in shapes.items():
        own = [row for row in alike if row.words["variant"] == OWN]
        pairs = [(row, rival) for row in own if (rival := _library(alike, row))]
        if pairs:
            largest[shape] = pairs
    if not largest:
        return ""
    shape = max(largest, key=lambda one: largest[one][0][0]["flops"])
    clauses = (
        f"{own.words['phase']} {_rate(own)}, "
        + factor(
            over(time_of(own), time_of(rival)),
            f"{rival.words['variant']}'s time",
        )
        for own, rival in largest[shape]
    )
    precision = largest[shape][0][0].words["precision"]
    return f"Ours in {precision} at {shape}: {'; '.join(clauses)}."


def flash_attention(result: Result) -> tuple[str, text.Table] | None:
    rows = [row for row in result.of("flash_attention") if row.get(RATE)]
    precisions = dict.fromkeys(row.words["precision"] for row in rows)
    told = [
        _told([row for row in rows if row.words["precision"] == precision])
        for precision in precisions
    ]
    if not any(told):
        return None
    seqs = sorted({int(row["seq"]) for row in rows})
    lines = []
    for (variant, precision, phase, heads, d_head), alike in series_of(rows).items():
        by_seq = {int(row["seq"]): row for row in alike}
        lines.append(
            [
                f"{variant} {precision} {phase}, {text.plural(int(heads), 'head')}, "
                f"d {d_head}",
                *(_rate(by_seq[seq]) if seq in by_seq else "-" for seq in seqs),
            ]
        )
    headings = ["FLOP/s of kernels", *(f"T {seq}" for seq in seqs)]
    return " ".join(filter(None, told)), text.Table(headings, lines)
