# SPDX-License-Identifier: MIT
"""The tables of an experiment as its spec requests: a line for each row, or a column
for each value of a parameter, and the phases of its steps."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from reports.answers.against import choices
from reports.answers.cells import cell, column_of, expanded, heading_of, shown, value_of
from reports.answers.conclusions import exponent
from reports.answers.shapes import alike, case_text, values_text
from reports.experiments.spec import Axis, Column, Spec
from reports.results import text
from reports.results.rows import TIME, Row, grouped
from reports.results.text import Table

PHASES = ("forward", "loss", "backward", "communication", "optimizer")
_BESIDE_PHASES = (
    Column("tokens_per_second", "tokens/s"),
    Column("communication_share", "communication share"),
    Column("loss", "loss reached", digits=4),
)

TextColumn = tuple[str, Sequence[str]]  # the heading and the cells


def from_columns(columns: Sequence[TextColumn], title: str = "") -> Table:
    """Makes a table; leaves out columns without a value."""
    headings, cells = zip(*columns, strict=True)
    return Table(headings, list(zip(*cells, strict=True)), title).compact()


def phases_of(row: Row) -> dict[str, float]:
    """Returns the median time of each phase that the row has."""
    return {name: us for name in PHASES if (us := row.get(f"{name}_us"))}


def varying(rows: Sequence[Row]) -> list[str]:
    """Returns the parameters in which the rows differ, in order of appearance."""
    keys = dict.fromkeys(key for row in rows for key in row.parameters)
    return [key for key in keys if len({row.parameters.get(key) for row in rows}) > 1]


def _labels(rows: Sequence[Row], but: str = "") -> list[TextColumn]:
    """Returns a column for each parameter in which the rows differ, or a single column
    if more than a quarter of the cells would be empty."""
    keys = [key for key in varying(rows) if key != but]
    if not keys:
        return [("case", [row.name for row in rows])]
    lacking = sum(key not in row.parameters for row in rows for key in keys)
    if 4 * lacking > len(rows) * len(keys):
        return [("case", [values_text(row, keys) for row in rows])]
    return [(key, [row.parameters.get(key, "-") for row in rows]) for key in keys]


def label_of(rows: Sequence[Row], *but: str) -> Callable[[Row], str]:
    """Returns a function that formats the parameters that vary, or all parameters if
    none do, except these."""
    keys = [key for key in varying(rows) if key not in but]

    def label(row: Row) -> str:
        shared = [key for key in row.parameters if key not in keys]
        varied = case_text(row, *shared) or case_text(row, *but)
        return varied or row.name.partition("/")[2] or row.name

    return label


def common(rows: Sequence[Row]) -> str:
    """Formats the parameters that all rows share, e.g. "tiny fp32 batch:4"."""
    keys = set(varying(rows))
    return values_text(rows[0], (key for key in rows[0].parameters if key not in keys))


def _exact(rows: Sequence[Row]) -> list[Column]:
    """Returns the counters that are exact without timing: bytes and counts."""
    names = dict.fromkeys(name for row in rows for name in row.counters)
    numbers = {number for row in rows for number in row.numbers}
    return [
        column_of(name)
        for name in names
        if rows[0].table.find(name).kind == "exact" and name not in numbers
    ]


def rows_table(rows: Sequence[Row], spec: Spec, is_timed: bool) -> Table:
    # The peak of a single operation is just the size of its tensors.
    has_peak = not spec.columns or any("model" in row.words for row in rows)
    named: list[str | Column] = [*spec.columns, *(["peak_bytes"] if has_peak else [])]
    columns = _labels(rows)
    if is_timed:
        columns.append(("time", [shown(row, TIME) for row in rows]))
        if spec.axis:
            columns.append(_ratios(rows, spec.axis))
    columns += _merged(rows, expanded(rows, named) if is_timed else _exact(rows))
    return from_columns(columns, common(rows))


def _ratios(rows: Sequence[Row], axis: Axis) -> TextColumn:
    ratios = {
        row.name: "1" if row is choice.base else choice.time(row).text()
        for choice in choices(rows, axis)
        for row in choice.rows.values()
    }
    return f"/ {axis.base}", [ratios.get(row.name, "-") for row in rows]


def _merged(rows: Sequence[Row], columns: Sequence[Column]) -> list[TextColumn]:
    """Makes one of columns with the same cells, with " = " between their headings, or
    " ≈ " if the exact values differ."""
    equal = grouped(columns, lambda column: tuple(cell(row, column) for row in rows))

    def heading(same: list[Column]) -> str:
        values = {tuple(row.get(column.counter) for row in rows) for column in same}
        names = dict.fromkeys(column.heading for column in same)
        return (" = " if len(values) == 1 else " ≈ ").join(names)

    return [(heading(same), cells) for cells, same in equal.items()]


def across_table(rows: Sequence[Row], across: str, counter: str) -> Table:
    """Makes a table with a column for each value of the parameter, and the exponent."""
    groups = alike(rows, across)
    columns = _labels([group[0] for group in groups], across)
    cells_of = [
        {row.numbers[across]: shown(row, counter) for row in group} for group in groups
    ]
    for place in sorted({row.numbers[across] for row in rows}):
        cells = [by_place.get(place, "-") for by_place in cells_of]
        columns.append((f"{across} {place}", cells))
    powers = [_exponent(group, across, counter) for group in groups]
    title = f"{heading_of(counter)}, {common(rows)}".rstrip(", ")
    return from_columns([*columns, (f"grows as {across}^", powers)], title)


def _exponent(group: Sequence[Row], across: str, counter: str) -> str:
    points = [
        (row.numbers[across], value)
        for row in group
        if (value := value_of(row, Column(counter)))
    ]
    power = exponent(points)
    return power.text(lambda value: f"{value:.2f}") if power else "-"


def _statistics(row: Row, phase: str) -> str:
    stem = f"{phase}_" if phase else ""
    names = ("mean", "stddev", "min", "max")
    values = [row.get(f"{stem}{name}_us") for name in names]
    known = [value / 1e3 for value in values if value is not None]
    if len(known) < len(names):
        return "-"
    mean, deviation, least, most = (text.significant(value) for value in known)
    return f"{mean} ± {deviation} ({least}, {most})"


def phases_table(rows: Sequence[Row]) -> Table | None:
    """Makes the table of mean, deviation, minimum and maximum of each phase's samples;
    None without phases."""
    steps = [row for row in rows if any(_statistics(row, p) != "-" for p in PHASES)]
    if not steps:
        return None
    columns = [*_labels(steps), ("whole", [_statistics(row, "") for row in steps])]
    columns += [(phase, [_statistics(row, phase) for row in steps]) for phase in PHASES]
    # A finding may have the name of a counter, such as the dtype of the loss.
    numbers = [replace(row, findings={}) for row in steps]
    columns += [
        (column.heading, [cell(row, column) for row in numbers])
        for column in _BESIDE_PHASES
    ]
    title = "Samples in ms, mean ± standard deviation (min, max)"
    return from_columns(columns, title)


def tables(rows: Sequence[Row], spec: Spec, is_timed: bool) -> list[Table]:
    if not rows:
        return []
    if spec.across and is_timed and all(spec.across in row.numbers for row in rows):
        return [across_table(rows, spec.across, counter) for counter in spec.cells]
    return [rows_table(rows, spec, is_timed)]
