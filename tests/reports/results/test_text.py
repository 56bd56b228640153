# SPDX-License-Identifier: MIT
"""Numbers in a readable format, and a table as CSV."""

import csv
from collections.abc import Callable

import pytest

from reports.results import text


@pytest.mark.parametrize(
    ("formatted", "values", "expected"),
    [
        (text.significant, (0, 1.2345, 1234.5, -2.5), "0, 1.23, 1230, -2.5"),
        (text.significant, (0.00012345, 1.2e-7), "0.000123, 1.2e-07"),
        (text.time, (0.046, 0.9997, 999.7, 1500), "46 ns, 1 us, 1 ms, 1.5 ms"),
        (text.time, (2.5e6, 9e9), "2.5 s, 9000 s"),
        (text.size, (16, 20 * 2**20, 2**50), "16 B, 20 MiB, 1020 TiB"),
        (lambda v: text.rate(v, "B/s"), (1.73e11, 12), "173 GB/s, 12 B/s"),
        (lambda v: text.with_unit(v, "s"), (41.23, 0.0151), "41.2 s, 15.1 ms"),
        (lambda v: text.with_unit(v, ""), (15864, 1.0, 2.345), "15864, 1, 2.35"),
        (text.percent, (0.0039, 0.123, 2.5), "0.39 %, 12 %, 250 %"),
    ],
)
def test_three_digits_and_a_unit(
    formatted: Callable[[float], str], values: tuple[float, ...], expected: str
) -> None:
    assert ", ".join(map(formatted, values)) == expected


def test_a_table_as_csv_can_be_read_again() -> None:
    lines = [["a, b", 'say "x"'], ["c", "1 ms ± 3 %"]]
    told = text.Table(["name", "value"], lines).csv()
    assert told.splitlines()[0] == "name,value"
    assert list(csv.reader(told.splitlines())) == [["name", "value"], *lines]


@pytest.mark.parametrize("cell", ["=1", "+A1", "-A1", "@SUM(A1)", "\r=1", "-1+A1"])
def test_a_cell_is_no_formula_of_a_spreadsheet(cell: str) -> None:
    told = text.Table(["=x"], [[cell]]).csv()
    assert told == f"'=x\n'{cell.strip()}\n"


def test_a_number_below_0_stays_a_number() -> None:
    cells = ["-", "-6.0000", "-1.5e-09", "+0.00 %", "-44.7 us ± 5.9 %"]
    cells += ["-1.45 (-1.54 to -1.36)", "-3 MB/s"]
    cells += ["-159 % (-482 to 52 %)", "-36.2 us (-45 to 15 us)", "-1 (no interval)"]
    assert text.Table(["a"], [[c] for c in cells]).csv().split("\n")[1:-1] == cells
