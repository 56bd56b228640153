# SPDX-License-Identifier: MIT
"""Rows whose samples something disturbed, and what it was."""

from reports.results import text
from reports.results.order_statistics import two_modes
from reports.results.rows import Result, Row

NOISY_CV = 0.1  # as in the table on the console
# What a row says in words, and what that means; {} is the word.
_WORDS = {
    "wrong": "its result is wrong ({})",
    "noisy": "{}",
    "samples": "it has {} samples",
    "wide": "its interval is {}, when its time was over",
    "warmup": "its calls still became faster when the warm-up ended",
    "trend": "its samples changed by {} from first to last",
    "clock": "its clock was {}",
}


def modes_of(row: Row) -> tuple[float, float] | None:
    """The two times that its processes, or its turns, took, if they are two."""
    turns = row.turns.us if row.turns else ()
    return two_modes(row.each.get("p50_us") or turns)


def reasons(row: Row) -> list[str]:
    """Empty for a row that nothing disturbed."""
    found = [
        meaning.format(row.findings[word])
        for word, meaning in _WORDS.items()
        if word in row.findings
    ]
    if modes := modes_of(row):
        found.append(f"it is bimodal ({' or '.join(map(text.time, modes))})")
    cv = row.get("cv") or 0.0
    if cv > NOISY_CV:
        found.append(f"its samples vary by {text.percent(cv)}")
    return found


def disturbed(result: Result) -> list[tuple[Row, list[str]]]:
    """The rows with reasons, the most varying first."""
    rows = [(row, reasons(row)) for row in result.rows]
    return sorted(
        ((row, why) for row, why in rows if why),
        key=lambda item: -(item[0].get("cv") or 0.0),
    )


def sentence(result: Result) -> str:
    """How many rows are disturbed, and the worst; "" if none is."""
    rows = disturbed(result)
    if not rows:
        return ""
    worst, why = rows[0]
    return (
        f"{len(rows)} of {text.plural(len(result.rows), 'row')} "
        f"{'is' if len(rows) == 1 else 'are'} disturbed, `{worst.name}` most: "
        f"{', '.join(why)}."
    )
