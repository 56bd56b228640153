# SPDX-License-Identifier: MIT
"""The exponent of a power law, compared with exact laws and a regression by hand."""

import math

import pytest

from reports.results.scaling import exponent_weights

SEQ = [256.0, 512.0, 1024.0, 2048.0]


def exponent(x: list[float], y: list[float]) -> float:
    weights = zip(exponent_weights(x), y, strict=True)
    return sum(weight * math.log(value) for weight, value in weights)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, -0.5])
def test_the_exponent_of_an_exact_law_is_found(power: float) -> None:
    y = [3.5 * x**power for x in SEQ]
    assert exponent(SEQ, y) == pytest.approx(power, abs=1e-12)


def test_the_exponent_is_the_slope_of_linear_regression() -> None:
    # log2 y = 0, 1, 3 over log2 x = 0, 1, 2: slope 3/2.
    assert exponent([1, 2, 4], [1, 2, 8]) == pytest.approx(1.5)
    assert exponent([10, 1000], [1, 100]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([], "different x, not []"),
        ([1], "different x, not [1]"),
        ([8, 8], "different x, not [8, 8]"),
        ([1, -2.5], "x holds -2.5"),
        ([1, math.nan], "x holds nan"),
    ],
)
def test_what_has_no_exponent_is_an_error_that_says_why(
    x: list[float], message: str
) -> None:
    with pytest.raises(ValueError) as raised:
        exponent_weights(x)
    assert message in str(raised.value)
