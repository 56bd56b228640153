# SPDX-License-Identifier: MIT
"""Two modes are found where they exist, and seldom elsewhere; ranks are scipy's."""

import numpy as np
import pytest
from scipy.stats import rankdata

from reports.results.order_statistics import mean_ranks, two_modes


@pytest.mark.parametrize("values", [(), (7,), (3, 1, 2), (2, 1, 2, 2, 1), (4, 4, 4)])
def test_equal_values_share_the_mean_rank(values: tuple[float, ...]) -> None:
    assert mean_ranks(values).tolist() == rankdata(values).tolist()


@pytest.mark.parametrize(
    ("values", "modes"),
    [
        ((6.6, 11.5, 6.7, 11.7, 6.8, 11.6), (6.7, 11.6)),
        ((3.7, 3.9, 3.95, 4.0, 7.7, 7.95), (3.925, 7.825)),
        ((1, 1, 1, 1, 1, 2), None),  # a single outlier
        ((1, 1.1, 1.2, 1.5, 1.6, 1.7), None),  # the gap is as large as the spread
        ((100, 100, 100, 104, 104, 104), None),  # too small to matter
        ((100, 100, 100, 110, 110, 110), (100, 110)),
        ((6.6, 6.7, 11.5, 11.6), None),  # too few
        ((), None),
    ],
)
def test_a_gap_divides_two_modes(
    values: tuple[float, ...], modes: tuple[float, float] | None
) -> None:
    assert two_modes(values) == (modes and pytest.approx(modes))


@pytest.mark.parametrize("name", ["standard_normal", "standard_exponential", "random"])
def test_one_mode_is_seldom_taken_for_two(name: str) -> None:
    draw = getattr(np.random.default_rng(1), name)
    found = sum(two_modes(5 + draw(6)) is not None for _ in range(3000))
    assert found / 3000 < 0.01
