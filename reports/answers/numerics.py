# SPDX-License-Identifier: MIT
"""Rounding errors and result dtypes of low precision."""

from reports.answers.disturbed import ABOUT_THE_TIMES
from reports.results import text
from reports.results.rows import Result, Row


def _by_accumulator(rows: list[Row]) -> str:
    """Whether an fp32 accumulator is always better than a 16-bit one."""
    wide: list[float] = []
    narrow: list[float] = []
    for row in rows:
        is_wide = row.words["dtypes"].startswith("fp32_plus_")
        (wide if is_wide else narrow).append(abs(row["relative_error"]))
    if not wide or not narrow:
        return ""
    most, fewest = text.percent(max(wide)), text.percent(min(narrow))
    if max(wide) < min(narrow):
        return (
            f": every fp32 accumulator is off by at most {most}, every 16-bit one by "
            f"at least {fewest}"
        )
    return f": an fp32 accumulator may be off by {most}, a 16-bit one by {fewest}"


def accumulation(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("accumulation")
    if not rows:
        return None
    worst = max(rows, key=lambda row: abs(row["relative_error"]))
    sums = ", ".join(f"{row['sum']:.4f} ({row.words['dtypes']})" for row in rows)
    sentence = (
        f"1000 times 0.01 is {sums}{_by_accumulator(rows)}; "
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
    found = rows[0].findings
    dtypes = [key for key in found if key not in ABOUT_THE_TIMES]
    sentence = (
        f"Under {rows[0].words['autocast']} autocast the parameters stay "
        f"{found['parameters']} and so do the "
        f"gradients ({found['gradients']}); the logits are {found['logits']}, the "
        f"loss {found['loss']}."
    )
    lines = [
        [row.words["autocast"], *(row.findings.get(tensor, "-") for tensor in dtypes)]
        for row in rows
    ]
    headings = ["autocast", *(tensor.replace("_", " ") for tensor in dtypes)]
    return sentence, text.Table(headings, lines)


def _onset(rows: list[Row], first: Row) -> str:
    """Between which magnitudes the overflow begins."""
    internals = f"{first.words['norm']} with {first.words['dtype']} internals"
    free = [
        int(row["magnitude"])
        for row in rows
        if row.words == first.words and row["magnitude"] < first["magnitude"]
    ]
    onset = int(first["magnitude"])
    if not free:
        return f"{internals} overflows at magnitude {onset}, the least measured"
    return (
        f"{internals} overflows at magnitude {onset} and not at {max(free)}; where "
        "between them it begins is not measured"
    )


def norm_precision(result: Result) -> tuple[str, text.Table] | None:
    rows = result.of("norm_precision")
    overflowed = [row for row in rows if row["overflowed"]]
    if not rows or not overflowed:
        return None
    wide = [row["relative_error"] for row in rows if row.words["internals"] == "wide"]
    sentence = _onset(rows, min(overflowed, key=lambda row: row["magnitude"]))
    if wide:
        most = text.significant(max(wide), 2)
        sentence += f"; with fp32 internals the error stays at {most} or less"
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
    return f"{sentence}.", text.Table(headings, lines)
