# SPDX-License-Identifier: MIT
"""Rows that differ from a baseline only in an axis, such as the implementation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reports.answers.cells import also
from reports.answers.conclusions import factor
from reports.answers.measured import Measured, time_of
from reports.answers.shapes import alike, case_text, values_text
from reports.experiments.spec import Axis
from reports.results import text
from reports.results.rows import Row, grouped


@dataclass(frozen=True)
class Choice:
    """The rows of one case that differ only in the axis, keyed by its values; one of
    them is the baseline."""

    axis: Axis
    rows: dict[str, Row]

    @property
    def base(self) -> Row:
        return self.rows[self.axis.base]

    @property
    def others(self) -> dict[str, Row]:
        return {name: row for name, row in self.rows.items() if row is not self.base}

    @property
    def label(self) -> str:
        return case_text(next(iter(self.rows.values())), *self.axis.word.split())

    def time(self, row: Row) -> Measured:
        """Divides a row's time by the baseline's."""
        return time_of(row) / time_of(self.base)

    def peak(self, row: Row) -> float | None:
        """Divides the row's peak memory by the baseline's; None if one is missing."""
        own, base = row.get("peak_bytes"), self.base.get("peak_bytes")
        return own / base if own is not None and base else None


def choices(rows: Sequence[Row], axis: Axis) -> list[Choice]:
    """Groups the rows by case, in run order; leaves out cases without the baseline."""
    words = axis.word.split()
    found = (
        {values_text(row, words): row for row in group} for group in alike(rows, *words)
    )
    return [Choice(axis, named) for named in found if axis.base in named]


def compared(rows: Sequence[Row], axis: Axis) -> list[Choice]:
    """Returns the choices with at least one other row."""
    return [choice for choice in choices(rows, axis) if choice.others]


def baselines(rows: Sequence[Row], axis: Axis, name: str) -> Iterator[tuple[Row, Row]]:
    """Yields each baseline with the row that has this value of the axis."""
    for choice in compared(rows, axis):
        if name in choice.others:
            yield choice.base, choice.others[name]


def size_of(choice: Choice) -> float:
    rows = choice.rows.values()
    return max(row.get("flops") or row.get("bytes") or 0.0 for row in rows)


def chosen(found: Sequence[Choice]) -> list[Choice]:
    """Selects the largest shape for each precision and model, and then only the
    smallest and the largest model."""

    def others(choice: Choice) -> tuple[str, ...]:
        but = (*choice.axis.word.split(), "model")
        return tuple(w for name, w in choice.base.words.items() if name not in but)

    ends: list[Choice] = []
    for same in grouped(found, others).values():
        models = grouped(same, lambda choice: choice.base.words.get("model", ""))
        largest = [max(of_one, key=size_of) for of_one in models.values()]
        least, *larger = sorted(largest, key=size_of)
        ends += [least, *larger[-1:]]
    return ends


def sentence(choice: Choice, counters: Sequence[str]) -> str:
    clauses = []
    for name, row in choice.others.items():
        clause = f"{name} takes {factor(choice.time(row), 'the time')}"
        peak = choice.peak(row)
        if peak is not None and peak != 1:
            clause += f", {text.significant(peak)} times the peak memory"
        clauses.append(clause + also(row, counters, choice.base))
    return f"In `{choice.label}`, over {choice.axis.base}: {'; '.join(clauses)}."
