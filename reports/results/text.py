# SPDX-License-Identifier: MIT
"""Numbers with units, and tables, as text."""

import csv
import io
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

# A cell in a column of numbers: it begins with a number, or says that there is none.
_NUMBER = re.compile(r"[-+≤≥] ?\d|\d|(-|unknown|)$")

# A cell that a spreadsheet would evaluate, and the exceptions: numbers with units, as
# in "-44.7 us ± 5.9 %" or "-1.45 (-1.54 to -1.36)", and "-" for none.
_FORMULA = re.compile(r"[-=+@]")
_SIGNED = re.compile(
    r"-|[-+]\d[\d.]*(e[-+]?\d+)?( \(?([-+]?\d[\d.]*|±|%|[A-Za-z]+(/s)?)\)?)*"
)


def significant(value: float, digits: int = 3) -> str:
    """Rounds to `digits` digits; has an exponent only below 1e-4 and from 1e7 on."""
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    if "e" not in text or not 1e-4 <= abs(value) < 1e7:
        return text
    return f"{float(text):f}".rstrip("0").rstrip(".")


def _scaled(value: float, units: Sequence[str], base: float, digits: int) -> str:
    for unit in units[:-1]:
        # 999.9 us rounds to 1e3 us, which is written as 1 ms.
        if max(abs(value), abs(float(f"{value:.{digits}g}"))) < base:
            return f"{significant(value, digits)} {unit}"
        value /= base
    return f"{significant(value, digits)} {units[-1]}"


def time(microseconds: float, digits: int = 3) -> str:
    return _scaled(microseconds * 1e3, ("ns", "us", "ms", "s"), 1e3, digits)


def size(count: float, digits: int = 3) -> str:
    return _scaled(count, ("B", "KiB", "MiB", "GiB", "TiB"), 1024, digits)


def rate(per_second: float, unit: str, digits: int = 3) -> str:
    prefixes = ("", "k", "M", "G", "T", "P")
    return _scaled(per_second, [prefix + unit for prefix in prefixes], 1e3, digits)


def with_unit(value: float, unit: str, digits: int = 3) -> str:
    """Formats a value in the unit of its counter (fixtures/counters.md)."""
    if unit.endswith("us"):
        return time(value, digits)
    if unit == "B":
        return size(value, digits)
    if unit == "FLOP" or unit.endswith("/s"):
        return rate(value, unit.removeprefix("1"), digits)
    if unit == "s":
        return time(value * 1e6, digits)
    if not unit and float(value).is_integer() and abs(value) < 1e7:
        return f"{value:.0f}"
    return significant(value, digits)


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def not_shown(count: int, noun: str) -> str:
    """Ends a text that lacks so many, e.g. " 2 further cases are not shown."."""
    verb = "is" if count == 1 else "are"
    return f" {plural(count, f'further {noun}')} {verb} not shown." if count > 0 else ""


def listed(names: Sequence[str]) -> str:
    """Joins names, e.g. "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def percent(fraction: float) -> str:
    return f"{significant(fraction * 100, 2 if abs(fraction) < 1 else 3)} %"


def columns(
    lines: Sequence[Sequence[str]], left: Collection[int] = (0, -1)
) -> list[str]:
    """Formats table lines, headings first, for a terminal: columns are two spaces
    apart, those in `left` are left-aligned and the others right-aligned."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    is_left = {number % len(widths) for number in left} if widths else set()

    def cell(number: int, content: str) -> str:
        width = widths[number]
        return content.ljust(width) if number in is_left else content.rjust(width)

    return ["  ".join(map(cell, range(len(line)), line)).rstrip() for line in lines]


def table(
    headings: Sequence[str],
    lines: Sequence[Sequence[str]],
    right: Sequence[bool] | None = None,
) -> str:
    """Formats a Markdown table. `right`: which columns are right-aligned; the default
    is all except the first."""
    right = right or [False] + [True] * (len(headings) - 1)
    rule = "|".join("---:" if is_right else "---" for is_right in right)
    first, *rest = ("| " + " | ".join(cells) + " |" for cells in (headings, *lines))
    return "\n".join([first, f"|{rule}|", *rest])


def _cell(text: str) -> str:
    """Escapes characters that would end a cell or are markup."""
    return re.sub(r"[\\|<*`\[]", r"\\\g<0>", " ".join(text.split()))


def _csv_cell(text: str) -> str:
    """Joins lines; a formula gets the quote that marks text in a spreadsheet."""
    text = " ".join(text.split())
    is_formula = _FORMULA.match(text) and not _SIGNED.fullmatch(text)
    return f"'{text}" if is_formula else text


@dataclass(frozen=True)
class Table:
    """A table of text cells, independent of the output format."""

    headings: Sequence[str]
    lines: Sequence[Sequence[str]]
    title: str = ""  # set if several tables go with one text

    @property
    def numeric(self) -> list[bool]:
        """Whether to right-align each column: all but the first, if all are numbers."""
        columns = list(zip(*self.lines, strict=True)) or [()] * len(self.headings)
        return [
            number > 0 and all(map(_NUMBER.match, cells))
            for number, cells in enumerate(columns)
        ]

    def compact(self, most: int | None = None) -> "Table":
        """Keeps the columns that have a value, or the first `most` of them."""
        known = [
            place
            for place in range(len(self.headings))
            if any(line[place] not in ("", "-") for line in self.lines)
        ][:most]
        headings = [self.headings[place] for place in known]
        lines = [[line[place] for place in known] for line in self.lines]
        return Table(headings, lines, self.title)

    def columns(self, left: Collection[int] = ()) -> list[str]:
        """Aligns columns for a terminal; those in `left` are left-aligned."""
        return columns([self.headings, *self.lines], left)

    def markdown(self) -> str:
        told = table(
            [_cell(heading) for heading in self.headings],
            [[_cell(cell) for cell in cells] for cells in self.lines],
            self.numeric,
        )
        return f"{_cell(self.title)}:\n\n{told}" if self.title else told

    def csv(self) -> str:
        """Formats as CSV with a line of headings; formulas are quoted."""
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows(
            map(_csv_cell, cells) for cells in (self.headings, *self.lines)
        )
        return written.getvalue()
