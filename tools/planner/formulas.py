# SPDX-License-Identifier: MIT
"""Tables of formulas. Each row is computed from its formula as it is printed, in the
notation that cs336.md describes."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from reports.results import text

Names = Mapping[str, float]
_SYMBOLS = re.compile(r"^## Symbols\n[^|]*((?:\|.*\n)+)", re.M)
_SECTION = re.compile(
    r"^## (\S+): (.*)\n(?s:.*?)^Constants: (.*)\n\n((?:\|.*\n)+)", re.M
)
_STATEMENT = re.compile(r"(?:.*?(\w+) (?:=|<=|<~|<|>) )?([^=<>]+)")


def _divisor(number: float, below: float) -> int:
    """The largest divisor of a whole number below a bound; 1 if there is none."""
    whole = round(number)
    small = (one for one in range(1, math.isqrt(whole) + 1) if whole % one == 0)
    either = (divisor for one in small for divisor in (one, whole // one))
    return max((divisor for divisor in either if divisor < below), default=1)


_FUNCTIONS = {
    "ceil": math.ceil,
    "divisor": _divisor,
    "floor": math.floor,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}


class Row(TypedDict):
    """A row of the JSON."""

    name: str  # unique in its group
    what: str  # "- what" if it details the row above
    formula: str
    value: float | None
    unit: str  # bytes, seconds, "" ...
    reason: NotRequired[str]  # why there is no value


@dataclass(frozen=True)
class Group:
    name: str
    title: str
    constants: str
    rows: list[Row]


@dataclass(frozen=True)
class Symbol:
    flag: str
    name: str
    default: str  # without a decimal point if the value is a whole number
    least: float
    most: float
    factor: float  # by which the flag is multiplied
    what: str


def _cells(table: str) -> Iterator[list[str]]:
    for line in table.splitlines()[2:]:
        yield [cell.strip(" `") for cell in line.strip("|").split("|")]


def symbols(document: str) -> list[Symbol]:
    (table,) = _SYMBOLS.findall(document)
    return [
        Symbol(flag, name, default, float(least), float(most), float(factor), what)
        for flag, name, default, least, most, factor, what in _cells(table)
    ]


def whole(value: float | None) -> float | None:
    """Makes a whole number below 2**53 an int, which prints as 44 instead of 44.0."""
    is_whole = value is not None and abs(value) < 2**53 and value == int(value)
    return int(value or 0) if is_whole else value


def evaluate(expression: str, names: Names) -> float:
    """Evaluates a formula of this repository: it runs as code, so it must not come from
    elsewhere. Raises NameError for a symbol that `names` lacks."""
    code = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", expression.replace("^", "**"))
    return float(eval(code, {"__builtins__": {}, **_FUNCTIONS, **names}))


def _rows(table: str, names: Names) -> Iterator[Row]:
    known = dict(names)
    for name, what, formula, unit, unless in _cells(table):
        conditions = unless.split("; ") if unless else []
        holds = [one for one in conditions if evaluate(one, known)]
        found = None
        for statement in [] if holds else formula.split("; "):
            match = _STATEMENT.fullmatch(statement)
            assert match, statement
            found = evaluate(match[2], known)
            known[match[1] or ""] = found
        row = Row(
            name=name,
            what=_filled(what, known),
            formula=formula,
            value=whole(found),
            unit=unit,
        )
        if holds:
            row["reason"] = f"none if {holds[0]}"
        yield row


def groups(document: str, names: Names, links: Mapping[str, Names]) -> Iterator[Group]:
    """Yields the tables of a document. A table with {link} in its name is repeated for
    each of `links`, with the names of that link."""
    sections = _SECTION.findall(document)
    assert len(sections) == document.count("\n## ") + document.startswith("## ") - 1
    for name, title, constants, table in sections:
        for link, more in (links if "{link}" in name else {"": {}}).items():
            known = {**names, **more}
            yield Group(
                name.replace("{link}", link),
                title.replace("{link}", link),
                _filled(constants, known),
                list(_rows(table, known)),
            )


def _filled(template: str, names: Names) -> str:
    """Replaces {X} by the value of X, and {X:bytes} by its value in that unit."""
    return re.sub(
        r"\{(\w+):?([^}]*)\}", lambda match: shown(names[match[1]], match[2]), template
    )


def shown(number: float, unit: str) -> str:
    if unit == "bytes":
        return _in_both_units(number)
    if unit == "seconds":
        return text.time(number * 1e6)
    scale = {"GB/s": 1e9, "TFLOP/s": 1e12}.get(unit, 1)
    return f"{count(number / scale)} {unit}".rstrip()


def count(number: float) -> str:
    """All digits and at most one decimal; tiny and huge numbers have four digits."""
    if number >= 1e13 or 0 < number < 0.05:
        return f"{number:.4g}"
    is_whole = number == math.floor(number) or number >= 1e6
    return f"{number:,.{0 if is_whole else 1}f}"


def _in_both_units(number: float) -> str:
    """Bytes in powers of 1000 and of 1024: "3517.6 GB = 3276.0 GiB"."""
    power = 0
    # TB only from 9999.5 GB on, since the memory of devices is counted in GB.
    while power < 4 and number / 1000**power >= (999.5 if power < 3 else 9999.5):
        power += 1
    if power == 0:
        return f"{count(number)} B"

    def part(base: int, prefix: str) -> str:
        scaled = number / base**power
        digits = ".4g" if scaled >= 1e6 else ".1f" if scaled >= 9.995 else ".2f"
        return f"{scaled:{digits}} {prefix}B"

    prefix = "kMGT"[power - 1]
    return f"{part(1000, prefix)} = {part(1024, prefix.upper() + 'i')}"
