# SPDX-License-Identifier: MIT
"""Rows that differ from a baseline in one word alone, such as the implementation."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reports.answers.cells import optional
from reports.answers.comparing import factor
from reports.answers.measured import Measured, over, time_of
from reports.answers.shapes import case_text, without
from reports.results import text
from reports.results.rows import Row

# A further column: its heading, and the cell of a row.
Column = tuple[str, Callable[["Choice", Row], str]]


@dataclass(frozen=True)
class Axis:
    word: str  # the parameter in which the rows of a choice differ
    base: str  # its value in the baseline


@dataclass(frozen=True)
class Choice:
    """The rows of one case that differ in the axis alone, by their value of it."""

    axis: Axis
    rows: dict[str, Row]

    @property
    def base(self) -> Row | None:
        return self.rows.get(self.axis.base)

    @property
    def others(self) -> dict[str, Row]:
        return {name: row for name, row in self.rows.items() if row is not self.base}

    @property
    def label(self) -> str:
        return case_text(next(iter(self.rows.values())), self.axis.word)

    def time(self, row: Row) -> Measured | None:
        """Over the baseline's, which the run may lack."""
        return over(time_of(row), time_of(self.base)) if self.base else None

    def peak(self, row: Row) -> float | None:
        """Over the baseline's."""
        base = self.base.get("peak_bytes") if self.base else None
        own = row.get("peak_bytes")
        return own / base if own is not None and base else None


def choices(rows: Sequence[Row], axis: Axis) -> list[Choice]:
    """In run order."""
    found: dict[tuple[tuple[str, str], ...], dict[str, Row]] = {}
    for row in rows:
        found.setdefault(without(row, axis.word), {})[row.words[axis.word]] = row
    return [Choice(axis, alike) for alike in found.values()]


def compared(rows: Sequence[Row], axis: Axis) -> list[Choice]:
    """Those with the baseline and with something beside it."""
    return [one for one in choices(rows, axis) if one.base and one.others]


def baselines(rows: Sequence[Row], axis: Axis, name: str) -> Iterator[tuple[Row, Row]]:
    """Each baseline with the row beside it of this name."""
    for choice in compared(rows, axis):
        if choice.base and name in choice.others:
            yield choice.base, choice.others[name]


def size_of(choice: Choice) -> float:
    return max(row.get("flops") or 0.0 for row in choice.rows.values())


def told(found: Sequence[Choice]) -> list[Choice]:
    """Of each precision the smallest work and the largest, in its largest shape."""
    largest: dict[tuple[str, str], Choice] = {}
    for choice in found:
        words = next(iter(choice.rows.values())).words
        key = words["precision"], words["model" if "model" in words else "work"]
        if key not in largest or size_of(choice) > size_of(largest[key]):
            largest[key] = choice
    ends = []
    for precision in dict.fromkeys(precision for precision, _ in largest):
        of_one = [c for (name, _), c in largest.items() if name == precision]
        of_one.sort(key=size_of)
        ends += [of_one[0], *of_one[-1:]] if len(of_one) > 1 else of_one
    return ends


def _clause(choice: Choice, name: str, row: Row) -> str:
    time, peak = choice.time(row), choice.peak(row)
    assert time is not None
    clause = f"{name} takes " + factor(time, f"{choice.axis.base}'s time")
    if peak is None:
        return clause
    return f"{clause} and {text.significant(peak)} times its peak memory"


def sentence(found: Sequence[Choice]) -> str:
    """Of the choices that are told."""
    return " ".join(
        f"In `{choice.label}` "
        + "; ".join(_clause(choice, *other) for other in choice.others.items())
        + "."
        for choice in told(found)
    )


def table(found: Sequence[Choice], *columns: Column) -> text.Table:
    """A line for each row, with the ratios to its baseline."""
    lines = []
    for choice in found:
        for name, row in choice.rows.items():
            time, peak = choice.time(row), choice.peak(row)
            is_base = row is choice.base
            lines.append(
                [
                    choice.label,
                    name,
                    time_of(row).plus_minus(text.time),
                    "1" if is_base else "-" if time is None else time.text(),
                    optional(row, "peak_bytes", text.size),
                    "-" if peak is None else text.significant(peak),
                    *(cell(choice, row) for _, cell in columns),
                ]
            )
    axis = found[0].axis
    headings = ["case", axis.word, "time", f"of {axis.base}'s time", "peak memory"]
    headings += [f"of {axis.base}'s peak", *(heading for heading, _ in columns)]
    return text.Table(headings, lines)
