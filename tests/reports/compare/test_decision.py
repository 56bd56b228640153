# SPDX-License-Identifier: MIT
"""A verdict requires an effect that is both certain and relevant."""

import math
from dataclasses import replace

import pytest

from reports.compare.decision import (
    RowNoise,
    Verdict,
    decide_once,
    decide_pairs,
    verdict_of,
)
from reports.compare.intervals import Interval, Pair, pairs_for, prediction_interval

UP, DOWN = math.log1p(0.02), -math.log1p(0.02)
TINY = 1e-12


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (UP + TINY, 1.0, "REGRESSED"),
        (UP, 1.0, "INCONCLUSIVE"),  # touches the threshold
        (0.0, 1.0, "INCONCLUSIVE"),
        (TINY, UP + TINY, "INCONCLUSIVE"),  # certainly slower, but by how much?
        (TINY, UP, "EQUIVALENT"),  # certainly slower, but irrelevant
        (DOWN, UP, "EQUIVALENT"),
        (DOWN - TINY, UP, "INCONCLUSIVE"),
        (DOWN, UP + TINY, "INCONCLUSIVE"),
        (0.0, 0.0, "EQUIVALENT"),
        (-1.0, 1.0, "INCONCLUSIVE"),
        (DOWN - TINY, -TINY, "INCONCLUSIVE"),
        (-1.0, DOWN, "INCONCLUSIVE"),
        (-1.0, DOWN - TINY, "IMPROVED"),
        (-math.inf, math.inf, "INCONCLUSIVE"),
    ],
)
def test_verdict_by_where_the_interval_lies(
    low: float, high: float, verdict: str
) -> None:
    assert verdict_of(Interval(low, high), 0.02).value == verdict
    mirrored = {"REGRESSED": "IMPROVED", "IMPROVED": "REGRESSED"}
    other = verdict_of(Interval(-high, -low), 0.02).value
    assert other == mirrored.get(verdict, verdict)


def pairs(*, n: int, ratio: float, by: float = 0.001) -> list[Pair]:
    return [Pair(math.log(ratio) + by * (i - (n - 1) / 2)) for i in range(n)]


def test_only_what_is_undecided_asks_for_more() -> None:
    assert decide_pairs(pairs(n=9, ratio=1.05), 0.05, 0.02).more_pairs is None
    near = decide_pairs(pairs(n=9, ratio=1.021, by=0.01), 0.05, 0.02).more_pairs
    far = decide_pairs(pairs(n=9, ratio=1.06, by=0.02), 0.05, 0.02).more_pairs
    assert near is not None and far is not None
    assert near > far >= 1


def test_the_estimate_is_within_the_interval() -> None:
    """Disturbed pairs, more than half of all, hardly move the interval."""
    found = decide_pairs([Pair(0.1, 0.1)] * 26 + [Pair(0, 0.001)] * 24, 0.05, 0.02)
    assert found.interval is not None
    assert found.ratio == found.interval.ratios[1] < 1.01


CALM = RowNoise(floor=0.01, spread=0.005, pairs=20, reach=0)


def test_one_process_a_side_says_nothing_by_itself() -> None:
    few = "A/A spread of 19 pairs: 20 needed"
    for noise, basis in ((None, "no pairs"), (replace(CALM, pairs=19), few)):
        found = decide_once(math.log(3), 0.001, 0.02, noise)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert (found.interval, found.pairs) == (None, 0)
        assert found.more_pairs is not None
        assert found.more_pairs >= pairs_for(0.001)
        assert found.basis == basis


def test_one_process_a_side_against_a_known_spread() -> None:
    found = decide_once(math.log(1.1), 0.001, 0.02, CALM)
    assert found.verdict is Verdict.REGRESSED
    assert found.interval == prediction_interval(math.log(1.1), 0.005, 20, 0.001)
    assert found.basis == "A/A spread of 20 pairs"
    assert found.more_pairs is None
    assert decide_once(math.log(0.9), 0.001, 0.02, CALM).verdict is Verdict.IMPROVED
    near = decide_once(math.log(1.02), 0.001, 0.02, CALM)
    assert near.verdict is Verdict.INCONCLUSIVE and near.more_pairs is not None
    quiet = RowNoise(floor=0.0, spread=0.001, pairs=20, reach=0)
    assert decide_once(0.0, 0.001, 0.02, quiet).verdict is Verdict.EQUIVALENT


def test_a_damaged_reach_gives_a_finite_ratio() -> None:
    damaged = decide_once(0.1, 0.001, 0.02, replace(CALM, reach=1e300)).interval
    assert damaged is not None and math.isfinite(damaged.ratios[1])
