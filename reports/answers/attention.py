# SPDX-License-Identifier: MIT
"""Attention: growth with sequence length, and the cost of the softmax."""

import math
from collections import defaultdict
from collections.abc import Callable

from reports.answers.cells import ratio
from reports.results import text
from reports.results.rows import Result, Row
from reports.results.scaling import Fit, power_law_exponent

Key = tuple[str, str, str, int]


def series_of(rows: list[Row]) -> dict[Key, list[Row]]:
    """Groups of rows that differ only in sequence length."""
    series: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        words = row.words
        key = (words["variant"], words["precision"], words["phase"])
        series[*key, int(row["d_head"])].append(row)
    return {key: rows for key, rows in series.items() if len(rows) > 1}


# The quantities that grow with sequence length: heading, and value in a row.
_GROWING: dict[str, Callable[[Row], float]] = {
    "time": lambda row: row.time_us,
    "saved bytes": lambda row: row["saved_bytes"],
    "peak": lambda row: row["peak_bytes"],
}


def exponent_of(rows: list[Row], value: Callable[[Row], float]) -> Fit:
    return power_law_exponent(
        [row["seq"] for row in rows], [value(row) for row in rows]
    )


def _cell(fit: Fit) -> str:
    """The exponent and, from three points on, its 95 % interval."""
    if fit.interval is None:
        return f"{fit.exponent:.2f}"
    low, high = fit.interval
    return f"{fit.exponent:.2f} ({low:.2f} to {high:.2f})"


def attention_scaling(result: Result) -> tuple[str, text.Table] | None:
    series = series_of(result.of("attention_scaling"))
    if not series:
        return None
    seqs = sorted({int(row["seq"]) for rows in series.values() for row in rows})
    lines, growths = [], []
    # The sentence is about the precision and head size of the first rows.
    _, shown_precision, _, shown_d = next(iter(series))
    for (variant, precision, phase, d_head), rows in series.items():
        by_seq = {int(row["seq"]): row for row in rows}
        fits = {name: exponent_of(rows, value) for name, value in _GROWING.items()}
        last = by_seq.get(seqs[-1])
        lines.append(
            [
                f"{variant} {precision} {phase}, d {d_head}",
                *(
                    text.time(by_seq[seq].time_us) if seq in by_seq else "-"
                    for seq in seqs
                ),
                "-" if last is None else text.size(last["saved_bytes"]),
                "-" if last is None else text.size(last["peak_bytes"]),
                *map(_cell, fits.values()),
            ]
        )
        if (precision, phase, d_head) == (shown_precision, "forward", shown_d):
            growths.append(
                f"{variant}'s time grows as T^{_cell(fits['time'])}, its saved bytes "
                f"as T^{fits['saved bytes'].exponent:.2f}"
            )
    headings = [
        "variant",
        *(f"T {seq}" for seq in seqs),
        f"saved at {seqs[-1]}",
        f"peak at {seqs[-1]}",
        *(f"exponent of {name}" for name in _GROWING),
    ]
    sentence = f"Forward in {shown_precision}, d {shown_d}: {'; '.join(growths)}."
    return sentence, text.Table(headings, lines)


def softmax_vs_matmul(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("softmax_vs_matmul")
    naive = [
        row
        for row in rows
        if row.words["part"] == "softmax_naive" and "time_ratio" in row.counters
    ]
    if not naive:
        return None
    last = naive[-1]
    sentence = (
        f"At {int(last['seq'])} tokens the naive softmax has "
        f"{text.percent(last['flop_ratio'])} of the FLOPs of QK^T, but moves "
        f"{text.significant(last['byte_ratio'])} times its bytes and takes "
        f"{text.significant(last['time_ratio'])} times its time"
    )
    # Bytes predict the time better than FLOPs do, and are within a factor of 4.
    of_bytes, of_flops = (
        last["time_ratio"] / last[counter] for counter in ("byte_ratio", "flop_ratio")
    )
    if abs(math.log(of_bytes)) < abs(math.log(of_flops)) and of_bytes < 4:
        sentence += ": it is bytes, not FLOPs, that it spends its time on."
    else:
        sentence += ", which its bytes do not explain."
    lines = [
        [
            f"{row.words['part']}, T {int(row['seq'])}, d {int(row['d_head'])}",
            text.time(row.time_us),
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
    return sentence, text.Table(headings, lines)
