# SPDX-License-Identifier: MIT
"""A table as CSV."""

import csv

import pytest

from reports.results import text


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
    assert text.Table(["a"], [[c] for c in cells]).csv().split("\n")[1:-1] == cells
