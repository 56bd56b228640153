# SPDX-License-Identifier: MIT
"""Ranks and intervals. reports/calibration tests how often intervals miss."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from reports.compare.intervals import (
    MANY_PAIRS,
    Interval,
    Pair,
    max_spread,
    pair_interval,
    pairs_for,
    pairs_to_decide,
)
from reports.results.order_statistics import interval_rank, signed_rank


def misses(n: int, k: int) -> float:
    """Returns the probability that n coins show fewer than k heads or k tails."""
    return float(2 * sum(math.comb(n, heads) for heads in range(k)) / 2**n)


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.025, 0.01, 0.001, 0.0005])
def test_rank_is_the_largest_that_keeps_the_promise(alpha: float) -> None:
    for n in range(1, 61):
        k = interval_rank(n, alpha)
        if k is None:
            assert misses(n, 1) > alpha
        else:
            assert misses(n, k) <= alpha < misses(n, k + 1)


def test_an_error_that_can_be_met_exactly_is_met() -> None:
    assert pairs_for(2 * 0.5**6) == 6
    assert interval_rank(6, 2 * 0.5**6) == 1
    assert pairs_for(2 * 0.5**6 - 1e-9) == 7
    assert [pairs_for(alpha) for alpha in (1.0, 0.05, 0.001)] == [1, 6, 11]


# From a table of the signed-rank test, e.g. Hollander and Wolfe's A.4.
@pytest.mark.parametrize(
    ("n", "alpha", "k"),
    [
        *((5, 0.05, None), (6, 0.05, 1), (10, 0.05, 9), (15, 0.05, 26)),
        *((20, 0.05, 53), (12, 0.01, 8), (20, 0.01, 38), (50, 0.05, 435)),
    ],
)
def test_signed_rank_is_that_of_the_tables(n: int, alpha: float, k: int | None) -> None:
    assert signed_rank(n, alpha) == k


def pairs(values: Sequence[float]) -> list[Pair]:
    return [Pair(value) for value in values]


def test_the_interval_of_few_pairs_is_between_the_outermost() -> None:
    values = pairs([0.5, -1.0, 3.0, 0.1, 7.0, 0.2, 0.3, -2.0, 0.4])
    assert pair_interval(values, 0.004) == Interval(-2.0, 7.0)
    assert pair_interval(values, 0.003) is None
    assert pair_interval([], 0.05) is None


def test_a_pair_of_unknown_error_weighs_as_little_as_any() -> None:
    known = [Pair(0.01 * i, 0.001 * i) for i in range(1, 9)]
    unknown, largest, small = (
        pair_interval([*known, Pair(1, error)], 0.05) for error in (0, 0.008, 0.001)
    )
    assert unknown == largest != small


@pytest.mark.parametrize("spread", [0.01, 0.02, 0.04])
def test_pairs_to_decide_narrow_the_interval_so_far(spread: float) -> None:
    """To 1 %, whether that takes ten pairs or two hundred."""
    rng = np.random.default_rng(3)
    n = pairs_to_decide(spread, 0.01, 0.01)
    found = [
        pair_interval(pairs((spread * rng.standard_normal(n)).tolist()), 0.01)
        for _ in range(400)
    ]
    halves = [(i.high - i.low) / 2 for i in found if i]
    assert np.median(halves) == pytest.approx(0.01, rel=0.15)


def test_pairs_to_decide_has_its_bounds() -> None:
    assert pairs_to_decide(0.01, 1.0, 0.05) == pairs_for(0.05)
    assert pairs_to_decide(0.0, 0.01, 0.05) == pairs_for(0.05)
    assert pairs_to_decide(1.0, 1e-6, 0.05) == MANY_PAIRS
    assert pairs_to_decide(1.0, 0.0, 0.05) == MANY_PAIRS
    assert pairs_to_decide(0.02, 0.01, 0.01) > pairs_to_decide(0.02, 0.01, 0.05)


def test_reach_is_that_of_the_strangest_row_in_the_scale_of_each() -> None:
    calm = [-0.02, -0.01, 0.0, 0.01, 0.02]  # scale 0.01, units -2 to 2
    wild = [-0.1, -0.1, 0.0, 0.1, 0.7]  # scale 0.1, units -1 to 7
    assert max_spread([calm]) == pytest.approx([0.04])
    assert max_spread([calm, wild]) == pytest.approx([0.09, 0.9])
    tables = max_spread([[calm, wild], [wild, wild]])
    np.testing.assert_allclose(tables, [[0.09, 0.8], [0.9, 0.8]])


def test_reach_needs_no_row_to_have_every_process() -> None:
    assert max_spread([]) == []
    found = max_spread([[0.0, 0.1, 0.2], [0.0, 0.0, 0.1, 0.5, 0.1]])
    # Both scales are 0.1; the units are -1 to 1 and -1 to 4.
    assert found == pytest.approx([0.5, 0.5])


def test_reach_of_rows_that_hardly_move() -> None:
    still, once = [1.0] * 5, [1.0, 1.0, 1.0, 1.0, 2.0]
    assert max_spread([still]) == [0.0]
    # Most values are equal, so the scale is the standard deviation, 0.4.
    found = max_spread([still, once])
    assert found == pytest.approx([0.0, 1.0])
