# SPDX-License-Identifier: MIT
"""Growth of attention with sequence length."""

from collections import defaultdict
from collections.abc import Callable

from reports.answers.measured import CANNOT_TELL, Measured, exactly, exponent, time_of
from reports.results import text
from reports.results.rows import Result, Row
from reports.results.scaling import Fit, power_law_exponent

CLEAR = 0.25  # an exponent that is known to so much is told
Value = Callable[[Row], float]
Key = tuple[str, str, str, int, int]


def series_of(rows: list[Row]) -> dict[Key, list[Row]]:
    """Groups of rows that differ only in sequence length.

    By variant, precision, phase, batch and head size.
    """
    series: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        words = row.words
        key = (words["variant"], words["precision"], words["phase"])
        series[*key, int(row["batch"]), int(row["d_head"])].append(row)
    return {
        key: rows
        for key, rows in series.items()
        if len({row["seq"] for row in rows}) > 1
    }


# The quantities that grow with sequence length: heading, and value in a row.
_GROWING: dict[str, Value] = {
    "time": lambda row: row.time_us,
    "saved bytes": lambda row: row.positive("saved_bytes"),
    "peak": lambda row: row.positive("peak_bytes"),
}


def exponent_of(rows: list[Row], value: Value) -> Fit:
    return power_law_exponent(
        [row.positive("seq") for row in rows], [value(row) for row in rows]
    )


def _measured_exponent(rows: list[Row], value: Value) -> Measured:
    """With the interval that follows from those of the rows."""
    if value is _GROWING["time"]:
        return exponent([(row.positive("seq"), time_of(row)) for row in rows])
    return exactly(exponent_of(rows, value).exponent)


def _cell(fit: Measured) -> str:
    return fit.text(lambda value: f"{value:.2f}")


def _growth(variant: str, time: Measured, saved: Measured) -> str:
    """What of the time's growth the intervals allow to say."""
    bytes_ = f"its saved bytes as T^{_cell(saved)}"
    if time.is_known and time.high - time.low <= 2 * CLEAR:
        return f"{variant}'s time grows as T^{_cell(time)}, {bytes_}"
    nearest = (time.value - CLEAR, time.value + CLEAR)
    return (
        f"how {variant}'s time grows {CANNOT_TELL} ({time.runs_to_tell(*nearest)}), "
        f"{bytes_}"
    )


def attention_scaling(result: Result) -> tuple[str, text.Table] | None:
    series = series_of(result.of("attention_scaling"))
    if not series:
        return None
    seqs = sorted({int(row["seq"]) for rows in series.values() for row in rows})
    lines, growths = [], []
    # The sentence is about the setting of the first rows.
    _, shown_precision, _, *shown_sizes = next(iter(series))
    for (variant, precision, phase, *sizes), rows in series.items():
        by_seq = {int(row["seq"]): row for row in rows}
        fits = {
            name: _measured_exponent(rows, value) for name, value in _GROWING.items()
        }
        last = by_seq.get(seqs[-1])
        lines.append(
            [
                f"{variant} {precision} {phase}, batch {sizes[0]}, d {sizes[1]}",
                *(
                    time_of(by_seq[seq]).plus_minus(text.time) if seq in by_seq else "-"
                    for seq in seqs
                ),
                "-" if last is None else text.size(last["saved_bytes"]),
                "-" if last is None else text.size(last["peak_bytes"]),
                *map(_cell, fits.values()),
            ]
        )
        shown = (precision, phase, sizes) == (shown_precision, "forward", shown_sizes)
        if shown:
            growths.append(_growth(variant, fits["time"], fits["saved bytes"]))
    headings = [
        "variant",
        *(f"T {seq}" for seq in seqs),
        f"saved at {seqs[-1]}",
        f"peak at {seqs[-1]}",
        *(f"exponent of {name}" for name in _GROWING),
    ]
    batch, d_head = shown_sizes
    sentence = (
        f"Forward in {shown_precision}, batch {batch}, d {d_head}, T {seqs[0]} to "
        f"{seqs[-1]}: {'; '.join(growths)}."
    )
    return sentence, text.Table(headings, lines)
