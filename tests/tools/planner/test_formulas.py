# SPDX-License-Identifier: MIT
"""Formulas in their printed form, and their values."""

import pytest

from tools.planner.formulas import evaluate, groups, shown

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


# tests/data/printed/plan_parallel.txt has the other sizes and units.
@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(0.0123, "", "0.0123"), (1_000_000.4, "", "1,000,000"), (512, "bytes", "512 B")],
)
def test_small_and_large_numbers(value: float, unit: str, text: str) -> None:
    assert shown(value, unit) == text
