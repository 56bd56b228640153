# SPDX-License-Identifier: MIT
"""Makes the sentence of an experiment from the claims in its spec, as far as the run's
intervals support them."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from reports.answers import against
from reports.answers.cells import also, column_of, heading_of, shown, value_of
from reports.answers.conclusions import CANNOT_TELL, exponent, least
from reports.answers.judging import ALPHA
from reports.answers.measured import Measured, counter_of, exactly
from reports.answers.shapes import alike, case_text, selected
from reports.answers.tables import label_of
from reports.experiments import spec
from reports.results import text
from reports.results.rows import Row, grouped

CLEAR = 0.25  # the largest half-width of an exponent that is stated
MOST = 8  # rows in a sentence
Maker = Callable[[Sequence[Row], Any], str]  # makes the sentence of a claim


def _versus(rows: Sequence[Row], claim: spec.Versus) -> str:
    return " ".join(
        against.sentence(choice, claim.also)
        for choice in against.chosen(against.compared(rows, claim.axis))
    )


def _extreme(every: Sequence[Row], claim: spec.Extreme) -> str:
    rows = [row for row in every if row.get(claim.counter) is not None]
    rows = [row for row in rows if not claim.needs or row.get(claim.needs) is not None]
    if claim.among and rows:  # the last setting of a run is the largest
        rows = alike(rows, *claim.among.split())[-1]
    groups = grouped(rows, lambda row: row.words.get(claim.each, "")).values()
    label = label_of(every)
    return " ".join(filter(None, (_extreme_of(rows, claim, label) for rows in groups)))


def _extreme_of(
    rows: Sequence[Row], claim: spec.Extreme, label: Callable[[Row], str]
) -> str:
    named = {label(row): row for row in rows}
    values = {name: counter_of(row, claim.counter) for name, row in named.items()}
    ranked = values
    if not claim.least:
        ranked = {name: exactly(1) / v for name, v in values.items() if v.value}
    if not ranked:
        return ""
    first, rivals = least(ranked)
    row = named[first]
    heading = heading_of(claim.counter)
    is_exact = values[first].low == values[first].high
    holders = f"`{first}` has"
    if is_exact and rivals:  # as low or as high
        holders = f"`{first}` and {text.plural(len(rivals), 'other')} have"
    said = f"{holders} {{}}{shown(row, claim.counter)}"
    said += also(row, claim.also)
    most = "lowest" if claim.least else "highest"
    if len(rows) == 1:
        article = "an" if heading[0] in "aeiou" else "a"
        return said.format(f"{article} {heading} of ") + "."
    if not rivals or is_exact:
        return said.format(f"the {most} {heading}, ") + "."
    others = f"{text.plural(len(rivals), 'other')} may have "
    return (
        f"Which has the {most} {heading} {CANNOT_TELL}: {said.format('')}, and "
        f"{others}{'less' if claim.least else 'more'}."
    )


def _spread_values(
    rows: Sequence[Row], claim: spec.Spread
) -> Iterator[tuple[Row, Measured, str]]:
    """Yields rows with their values, also as text."""
    if claim.versus is None:
        for row in rows:
            if (value := value_of(row, column_of(claim.column))) is not None:
                yield row, value, shown(row, claim.column)
        return
    for choice in against.compared(rows, claim.versus):
        for row in choice.others.values():
            ratio = choice.time(row)
            yield row, ratio, ratio.text()


def _spread(rows: Sequence[Row], claim: spec.Spread) -> str:
    label, heading = label_of(rows), column_of(claim.column).heading
    if claim.where:
        heading += f" of `{' '.join(claim.where.values())}`"
    found = [
        (value, said, row)
        for row, value, said in _spread_values(rows, claim)
        if selected(row, claim.where)
        and (not claim.needs or claim.needs in row.counters)
    ]
    if not found:
        return ""
    ends = [end(found, key=lambda one: one[0].value) for end in (min, max)]
    (low, least, row), (high, _, other) = ends
    if low.value == high.value and len(found) > 1:
        return f"The {heading} is {least} in each of {len(found)} rows."
    if row is other:
        return f"The {heading} is {least} in `{label(row)}`."
    # The two are the extremes of all pairs, and chance may set any pair apart.
    ratio = low / high
    unclear = ""
    if not ratio.is_clear or ratio.doubt(1, 1) * math.comb(len(found), 2) > ALPHA:
        unclear = f"; whether these differ {CANNOT_TELL}"
    if not ratio.is_fair:
        unclear += f": {ratio.runs_to_tell(1)}"
    ranges = " to ".join(f"{said} in `{label(row)}`" for _, said, row in ends)
    return f"The {heading} ranges from {ranges}{unclear}."


def _values(rows: Sequence[Row], claim: spec.Values) -> str:
    found = [row for row in rows if selected(row, claim.where)]
    others = text.not_shown(len(found) - MOST, "case")
    parts, label = [], label_of(rows)
    columns = [column_of(named) for named in claim.columns]
    for row in found[-MOST:]:  # the last ones are the largest
        cells = [(column.heading, shown(row, column)) for column in columns]
        said = ", ".join(f"{heading} {cell}" for heading, cell in cells if cell != "-")
        parts += [f"`{label(row)}` {said}"] if said else []
    return f"{'; '.join(parts)}.{others}" if parts else ""


def _along(start: str, clause: Maker) -> Maker:
    """Makes a sentence with a clause on each group of rows that differ only in the
    parameter `along`; a clause may be ""."""

    def made(rows: Sequence[Row], claim: Any) -> str:
        numbered = [row for row in rows if claim.along in row.numbers]
        parts = [
            f"`{case_text(group[0], claim.along)}`{said}"
            for group in alike(numbered, claim.along)
            if (said := clause(group, claim))
        ]
        return f"{start.format(claim.along)}{'; '.join(parts)}." if parts else ""

    return made


def _growth(rows: Sequence[Row], claim: spec.Growth) -> str:
    if len(rows) < 2 or not selected(rows[0], claim.where):
        return ""
    grown = (_grown(rows, claim.along, name) for name in claim.counters)
    return f" {', '.join(grown)}"


def _grown(rows: Sequence[Row], along: str, counter: str) -> str:
    heading = heading_of(counter)
    points = [(row.numbers[along], counter_of(row, counter)) for row in rows]
    if not any(value.value > 0 for _, value in points):
        return f"{heading} 0"
    power = exponent(points)
    if power is None or not power.is_known or power.high - power.low > 2 * CLEAR:
        return f"the growth of {heading} {CANNOT_TELL}"
    return f"{heading} as {along}^{power.if_fair.text(lambda value: f'{value:.2f}')}"


def _settles(rows: Sequence[Row], claim: spec.Settles) -> str:
    """A number of calls is enough if it and all larger numbers give ratios near 1."""
    near, margin = (1 - claim.near, 1 + claim.near), text.percent(claim.near)
    ratios = {
        row.numbers[claim.along]: counter_of(row, claim.counter)
        for row in sorted(rows, key=lambda row: row.numbers[claim.along])
    }
    last = max((n for n, r in ratios.items() if r.outside(*near)), default=-1)
    later = {n: ratio for n, ratio in ratios.items() if n > last}
    unclear = [n for n, ratio in later.items() if not ratio.within(*near)]
    if not later:
        return f": up to {claim.along} {max(ratios)} it does not stay within {margin}"
    if not unclear:
        return f": from {claim.along} {min(later)} on it stays within {margin}"
    worst = max(unclear, key=lambda n: later[n].half_width)
    return (
        f": how many {claim.along} are enough {CANNOT_TELL}, because after {worst} the "
        f"{heading_of(claim.counter)} is {later[worst].text()}: "
        f"{later[worst].runs_to_tell(*near)}"
    )


def _onset(rows: Sequence[Row], claim: spec.Onset) -> str:
    places = {row.numbers[claim.along]: row.get(claim.counter) for row in rows}
    found = [place for place, value in places.items() if value]
    heading = heading_of(claim.counter)
    if not found:
        return f" never {heading} up to {max(places)}"
    free = [place for place in places if place < min(found)]
    least_free = f", not at {max(free)}" if free else ""
    return f" {heading} at {min(found)}{least_free}"


_MAKERS: dict[type, Maker] = {
    spec.Versus: _versus,
    spec.Extreme: _extreme,
    spec.Spread: _spread,
    spec.Values: _values,
    spec.Growth: _along("Along {}: ", _growth),
    spec.Settles: _along("", _settles),
    spec.Onset: _along("By {}: ", _onset),
}


def sentence(rows: Sequence[Row], claims: Sequence[spec.Claim]) -> str:
    """Joins the claims' sentences; "" if no claim applies to the rows."""
    made = (_MAKERS[type(claim)](rows, claim) for claim in claims)
    return " ".join(filter(None, made)) if rows else ""
