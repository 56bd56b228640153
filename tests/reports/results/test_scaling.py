# SPDX-License-Identifier: MIT
"""The fit of a power law, compared with exact laws and a regression by hand."""

import math

import pytest

from reports.results.scaling import power_law_exponent

SEQ = [256.0, 512.0, 1024.0, 2048.0]


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, -0.5])
def test_an_exact_law_is_found_with_no_error(exponent: float) -> None:
    fit = power_law_exponent(SEQ, [3.5 * x**exponent for x in SEQ])
    assert fit.exponent == pytest.approx(exponent, abs=1e-12)
    assert fit.at(1) == pytest.approx(3.5)
    assert fit.interval == pytest.approx((exponent, exponent), abs=1e-10)


def test_the_interval_is_the_one_of_linear_regression() -> None:
    # log2 y = 0, 1, 3 over log2 x = 0, 1, 2: slope 3/2, residuals 1/6, -1/3, 1/6, so
    # s^2 = (1/6) / 1 and the standard error of the slope is sqrt((1/6) / 2).
    fit = power_law_exponent([1, 2, 4], [1, 2, 8])
    error = math.sqrt(1 / 12)
    assert fit.exponent == pytest.approx(1.5)
    assert fit.interval is not None
    margin = 12.7062 * error
    assert fit.interval == pytest.approx((1.5 - margin, 1.5 + margin))


def test_two_points_give_a_slope_without_an_interval() -> None:
    fit = power_law_exponent([10, 1000], [1, 100])
    assert fit.exponent == pytest.approx(1)
    assert fit.interval is None


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([], [], "at least 2 points, not 0"),
        ([1], [1], "at least 2 points, not 1"),
        ([1, 2], [1, 2, 3], "x has 2 values, y has 3"),
        ([1, 2], [1, 0], "y holds 0"),
        ([1, -2.5], [1, 1], "x holds -2.5"),
        ([1, 2], [1, math.nan], "y holds nan"),
        ([1, math.inf], [1, 1], "x holds inf"),
        ([8, 8], [1, 2], "all are 8"),
    ],
)
def test_what_has_no_exponent_is_an_error_that_says_why(
    x: list[float], y: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        power_law_exponent(x, y)
