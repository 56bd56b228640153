# SPDX-License-Identifier: MIT
"""Formulas in their printed form, and their values."""

import pytest

from tools.planner.formulas import count, evaluate, groups, shown

DOCUMENT = """\
## Symbols

| flag | symbol | default | least | most | factor | what |
|---|---|---|---|---|---|---|
| ranks | N | 4 | 1 | 16 | 1 | how many |

## links/{link}: On {link}

Each rank sends to each other.

Constants: N = {N}, S = {S:bytes}

| name | what | formula | unit | none if |
|---|---|---|---|---|
| sent_bytes | sent | `T = (N - 1) S` | bytes | |
| half | - a half: h = {h} | `h = 1 / 2; T <= h T` | bytes | |
| limit | at most | `2 T` | | `N < 2; N > 3` |
"""


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("2 X", 6),
        ("X / (2 Y)", 0.3),
        ("X / 2 Y", 7.5),  # from left to right
        ("(X + Y) X", 24),
        ("(X + 1) (Y + 1)", 24),
        ("X^2 Y", 45),
        ("min(X, sqrt(Y Y))", 3),
        ("ceil(Y / 2) + floor(Y / 2)", 5),
        ("divisor(60, 13)", 12),
        ("divisor(60, 1)", 1),
    ],
)
def test_a_space_multiplies(formula: str, value: float) -> None:
    assert evaluate(formula, {"X": 3, "Y": 5}) == pytest.approx(value)


def test_the_first_condition_that_holds_is_the_reason() -> None:
    one, other = groups(DOCUMENT, {"N": 1}, {"a": {"S": 1}, "b": {"S": 2, "N": 4}})
    assert one.rows[2]["value"] is None and one.rows[2]["reason"] == "none if N < 2"
    assert other.rows[2]["reason"] == "none if N > 3"
    assert other.rows[0]["value"] == 6


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (44, "44"),
        (219_848_638_464, "219,848,638,464"),
        (20_444.44, "20,444.4"),
        (1_000_000.4, "1,000,000"),
        (1.2345e18, "1.234e+18"),
        (0.0123, "0.0123"),
    ],
)
def test_counts(value: float, text: str) -> None:
    assert count(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (512, "bytes", "512 B"),
        (2000, "bytes", "2.00 kB = 1.95 KiB"),
        (3517.6e9, "bytes", "3517.6 GB = 3276.0 GiB"),
        (2e16, "bytes", "20000.0 TB = 18189.9 TiB"),
        (1e19, "bytes", "1e+07 TB = 9.095e+06 TiB"),
        (0.0667, "seconds", "66.7 ms"),
        (180e9, "GB/s", "180 GB/s"),
        (4.6e14, "TFLOP/s", "460 TFLOP/s"),
        (38, "devices", "38 devices"),
        (1.5, "", "1.5"),
    ],
)
def test_units(value: float, unit: str, text: str) -> None:
    assert shown(value, unit) == text
