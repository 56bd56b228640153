# SPDX-License-Identifier: MIT
"""The fit of a fixed cost and a rate where one of them is 0. The committed pages have
the other fits."""

import math

import pytest

from reports.answers.collectives import fit_alpha_beta, sentence, transfers
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


def test_a_transfer_has_a_law_if_one_fits() -> None:
    rows = [
        entry(f"transfer/{way}/{n}", us, f"direction={way}", half_width=0.01, bytes=n)
        for way, times in (("h2d", (5.02, 25, 20005)), ("memcpy", (1, 40, 99000)))
        for n, us in zip((1e3, 1e6, 1e9), times, strict=True)
    ]
    law, other = transfers(parsed(*rows)).split("; ")
    assert law.startswith("h2d: t(S) = 5 us + S / (50 GB/s), half of that rate from")
    assert other.startswith("memcpy: t(S) does not follow alpha + S / bandwidth, by")
