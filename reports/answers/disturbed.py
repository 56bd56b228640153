# SPDX-License-Identifier: MIT
"""Rows with disturbed samples, and the causes."""

from reports.answers.measured import WIDEST, time_of
from reports.results import text
from reports.results.order_statistics import two_modes
from reports.results.rows import Result, Row

NOISY_CV = 0.1  # as in the table on the console
# The findings of a disturbed row and their meaning; {} is the finding's text.
_WORDS = {
    "wrong": "its result is wrong ({})",
    "noisy": "{}",
    "samples": "it has {} samples",
    "wide": "its interval is {}",
    "warmup": "its calls still became faster when the warm-up ended",
    "trend": "its samples changed by {} from first to last",
    "clock": "its clock was {}",
}


def modes_of(row: Row) -> tuple[float, float] | None:
    """Returns the two times of its processes, or its turns, if they are bimodal."""
    turns = row.turns.us if row.turns else ()
    return two_modes(row.each.get("p50_us") or turns)


def cv_of(row: Row) -> float:
    """Returns the coefficient of variation of a process's samples; 0 without any."""
    return row.get("cv") or 0.0


def reasons(row: Row) -> list[str]:
    """Lists the causes; empty for an undisturbed row."""
    found = [
        meaning.format(row.findings[word])
        for word, meaning in _WORDS.items()
        if word in row.findings
    ]
    if modes := modes_of(row):
        found.append(f"it is bimodal ({' or '.join(map(text.time, modes))})")
    if (cv := cv_of(row)) > NOISY_CV:
        found.append(f"its samples vary by {text.percent(cv)}")
    if _width_of(row) > WIDEST and "wide" not in row.findings:
        low, high = time_of(row).low, time_of(row).high
        found.append(f"its interval is {text.time(low)} to {text.time(high)}")
    return found


def _width_of(row: Row) -> float:
    """Returns the relative half-width of the time's interval; 0 if it is unknown."""
    time = time_of(row)
    return time.half_width if time.is_known else 0.0


def disturbed(result: Result) -> list[tuple[Row, list[str]]]:
    """Returns the disturbed rows with reasons, those that vary most first: by sample
    or by process."""
    rows = [(row, reasons(row)) for row in result.rows]
    return sorted(
        ((row, why) for row, why in rows if why),
        key=lambda item: -max(cv_of(item[0]), _width_of(item[0])),
    )


def sentence(count: int, result: Result) -> str:
    """States that so many rows are disturbed."""
    rows = text.plural(len(result.rows), "row")
    return f"{count} of {rows} {'is' if count == 1 else 'are'} disturbed."
