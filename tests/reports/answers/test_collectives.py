# SPDX-License-Identifier: MIT
"""The fit of a fixed cost and a rate where one of them is 0. The committed pages have
the other fits."""

import math

import pytest

from reports.answers.collectives import fit_alpha_beta, sentence
from results import entry, parsed


def test_no_parameter_is_negative() -> None:
    # Steeper than proportional: alpha would be -1. The fit of one parameter is
    # sum(x / t) / sum((x / t)^2), here (1 + 2/3) / (1 + 4/9).
    fit = fit_alpha_beta([1, 2], [1, 3])
    assert fit.alpha_us == pytest.approx(0, abs=1e-12)
    assert fit.us_per_byte == pytest.approx(15 / 13)
    # Falling: the slope would be -2. Here (1/4 + 1/2) / (1/16 + 1/4).
    fit = fit_alpha_beta([1, 2], [4, 2])
    assert fit.alpha_us == pytest.approx(12 / 5)
    assert fit.us_per_byte == 0
    assert fit.bytes_per_second == math.inf and fit.half_rate_bytes == math.inf


@pytest.mark.parametrize(
    ("us", "said"), [(30, ""), (40, "; a time is off by up to 19 %")]
)
def test_a_law_that_its_rows_refute_says_so(us: float, said: str) -> None:
    rows = [
        entry(f"all_reduce/{n}", t, "backend=gloo", half_width=0.02, bytes=n)
        for n, t in ((10, 20.1), (1000, us), (10000, 120))
    ]
    assert sentence(parsed(*rows)).partition(" %")[2] == f"{said})."
