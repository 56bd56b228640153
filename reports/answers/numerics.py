# SPDX-License-Identifier: MIT
"""Rounding errors and result dtypes of low precision."""

from reports.results import text
from reports.results.rows import Result


def accumulation(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("accumulation")
    if not rows:
        return None
    worst = max(rows, key=lambda row: abs(row["relative_error"]))
    sums = ", ".join(f"{row['sum']:.4f}" for row in rows)
    sentence = (
        f"1000 times 0.01 is {sums}: the accumulator matters most, and "
        f"`{worst.words['dtypes']}` is off by "
        f"{text.percent(abs(worst['relative_error']))}."
    )
    lines = [
        [
            row.words["dtypes"],
            f"{row['sum']:.4f}",
            f"{row['sum'] - 10:+.4f}",
        ]
        for row in rows
    ]
    return sentence, text.Table(["accumulation", "sum", "error"], lines)


def autocast_dtypes(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("autocast_dtypes")
    if not rows:
        return None
    dtypes = rows[0].findings
    sentence = (
        f"Under autocast the parameters stay {dtypes['parameters']} and so do the "
        f"gradients ({dtypes['gradients']}); the logits are {dtypes['logits']}, the "
        f"loss {dtypes['loss']}."
    )
    lines = [
        [row.words["autocast"], *(row.findings.get(tensor, "-") for tensor in dtypes)]
        for row in rows
    ]
    headings = ["autocast", *(tensor.replace("_", " ") for tensor in dtypes)]
    return sentence, text.Table(headings, lines)


def norm_precision(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("norm_precision")
    overflowed = [row for row in rows if row["overflowed"]]
    if not rows or not overflowed:
        return None
    least = min(overflowed, key=lambda row: row["magnitude"])
    wide = [row["relative_error"] for row in rows if row.words["internals"] == "wide"]
    sentence = (
        f"{least.words['dtype']} internals overflow from magnitude "
        f"{int(least['magnitude'])} on; with fp32 internals the error stays at "
        f"{text.significant(max(wide), 2)} or less."
    )
    magnitudes = sorted({int(row["magnitude"]) for row in rows})
    cells: dict[str, dict[int, str]] = {}
    for row in rows:
        key = f"{row.words['norm']} {row.words['dtype']} {row.words['internals']}"
        cells.setdefault(key, {})[int(row["magnitude"])] = (
            "overflow"
            if row["overflowed"]
            else text.significant(row["relative_error"], 2)
        )
    lines = [
        [key, *(values.get(magnitude, "-") for magnitude in magnitudes)]
        for key, values in cells.items()
    ]
    headings = ["error at magnitude", *(str(magnitude) for magnitude in magnitudes)]
    return sentence, text.Table(headings, lines)
