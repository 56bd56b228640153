# SPDX-License-Identifier: MIT
"""The simulation of programs in turns agrees with its tables."""

import math
from dataclasses import replace

import numpy as np
import pytest

from reports.calibration.weather import Turns, Weather, turns_of
from reports.compare.ab_times import Times, error_of, middle_mean, pair_of

STILL = Weather("still", turn=0, process=0)


def turns(found: Weather, rounds: int = 4, **how: bool) -> Turns:
    return turns_of(found, np.random.default_rng(3), (2, 5, 3, rounds), **how)


def test_a_coin_decides_who_meets_the_slower_turn() -> None:
    found = turns(replace(STILL, rhythm=0.05), rounds=1000)
    later = found.new - found.base
    assert set(np.round(np.unique(later), 12)) == {-0.05, 0.05}
    assert 0.45 < (later > 0).mean() < 0.55
    base_first = turns(replace(STILL, rhythm=0.05), fixed=True)
    assert np.allclose(base_first.new - base_first.base, 0.05)


def test_the_ratio_is_that_of_tools_ab() -> None:
    found = turns(replace(STILL, turn=0.1), rounds=7)
    base, new = np.exp(found.base[0, 0, 0]), np.exp(found.new[0, 0, 0])
    pair = pair_of(Times(1, {0: base.tolist()}), Times(1, {0: new.tolist()}))
    rounds = found.log_ratios
    assert middle_mean(rounds)[0, 0, 0] == pytest.approx(pair.log_ratio)
    assert error_of(rounds)[0, 0, 0] == pytest.approx(pair.error)
    assert found.log_ratio_of_medians[0, 0, 0] == pytest.approx(
        math.log(np.median(new) / np.median(base))
    )
