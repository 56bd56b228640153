# SPDX-License-Identifier: MIT
"""Attention: how it grows, and what its softmax costs."""

from collections import defaultdict
from collections.abc import Callable

from reports import text
from reports.rows import Result, Row
from reports.scaling import power_law_exponent

Key = tuple[str, str, str, int]


def _series(rows: list[Row]) -> dict[Key, list[Row]]:
    """Rows that differ in seq alone."""
    series: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        words = row.words
        key = (words["variant"], words["precision"], words["phase"])
        series[*key, int(row["d_head"])].append(row)
    return {key: rows for key, rows in series.items() if len(rows) > 1}


def _exponent(rows: list[Row], value: Callable[[Row], float]) -> float:
    fit = power_law_exponent([row["seq"] for row in rows], [value(row) for row in rows])
    return fit.exponent


def attention_scaling(result: Result) -> tuple[str, str] | None:
    series = _series(result.of("attention_scaling"))
    if not series:
        return None
    seqs = sorted({int(row["seq"]) for rows in series.values() for row in rows})
    lines = []
    exponents = {}
    for (variant, precision, phase, d_head), rows in series.items():
        by_seq = {int(row["seq"]): row for row in rows}
        grows = {
            name: _exponent(rows, value)
            for name, value in (
                ("time", lambda row: row.time_us),
                ("saved", lambda row: row["saved_bytes"]),
            )
        }
        exponents[variant, phase] = grows
        lines.append(
            [
                f"{variant} {precision} {phase}, d {d_head}",
                *(
                    text.time(by_seq[seq].time_us) if seq in by_seq else "-"
                    for seq in seqs
                ),
                f"{grows['time']:.2f}",
                text.size(by_seq[max(by_seq)]["saved_bytes"]),
                f"{grows['saved']:.2f}",
            ]
        )
    told = [
        f"{variant}'s time grows as T^{grows['time']:.2f} and its saved bytes as "
        f"T^{grows['saved']:.2f}"
        for (variant, phase), grows in exponents.items()
        if phase == "forward" and variant != "sdpa_math"
    ]
    headings = [
        "variant",
        *(f"T {seq}" for seq in seqs),
        "exponent",
        f"saved at {seqs[-1]}",
        "exponent",
    ]
    return f"Forward, {'; '.join(told)}.", text.table(headings, lines)


def softmax_vs_matmul(result: Result) -> tuple[str, str] | None:
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
        f"{text.significant(last['time_ratio'])} times its time: it is bytes, not "
        f"FLOPs, that it spends its time on."
    )
    lines = [
        [
            f"{row.words['part']}, T {int(row['seq'])}, d {int(row['d_head'])}",
            text.time(row.time_us),
            *(
                text.significant(row.counters.get(ratio, 1.0))
                for ratio in ("time_ratio", "flop_ratio", "byte_ratio")
            ),
            text.rate(row["flops_per_second"], "FLOP/s"),
            text.rate(row["bytes_per_second"], "B/s"),
        ]
        for row in rows
    ]
    headings = ["part", "time", "time / qk", "FLOPs / qk", "bytes / qk", "", ""]
    headings[-2:] = ["FLOP rate", "byte rate"]
    return sentence, text.table(headings, lines)
