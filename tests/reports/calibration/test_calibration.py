# SPDX-License-Identifier: MIT
"""The simulation uses the real rule to judge, and the noise that it names."""

import math
from dataclasses import replace

import numpy as np
import pytest

from reports.calibration.noise import Noise, log_medians, log_times
from reports.calibration.rule import abba, at_most, bounded, in_sequence, ratios, share
from reports.calibration.samples import Floats, share_between
from reports.calibration.simulated import margins_of
from reports.compare.decision import RowNoise, Verdict, decide_once
from reports.compare.intervals import Pair, max_spread
from reports.compare.sequential import Plan, decide_in_sequence


def times(noise: Noise, tables: int = 20, processes: int = 80) -> Floats:
    rng = np.random.default_rng(1)
    return log_medians(noise, rng, (tables, processes, 5, 5))


@pytest.mark.parametrize("plan", [Plan(5, 40), Plan(1, 40), Plan(50, 20), Plan(1, 6)])
@pytest.mark.parametrize("threshold", [0.0, 0.02])
def test_many_tables_are_judged_as_one_row_is(plan: Plan, threshold: float) -> None:
    logs = times(Noise("", outliers=0.1))[:, : 2 * plan.max_pairs]
    shifts = np.linspace(-0.06, 0.06, 5)
    log_ratios = ratios(logs, abba(plan.max_pairs)) + shifts
    errors = np.random.default_rng(2).uniform(0, 0.05, log_ratios.shape)
    found = in_sequence(log_ratios, plan, threshold, errors)
    kinds = {
        Verdict.REGRESSED: found.regressed,
        Verdict.IMPROVED: found.improved,
        Verdict.EQUIVALENT: found.equivalent,
    }
    seen = set()
    for table, row in np.ndindex(20, 5):
        values = zip(log_ratios[table, :, row], errors[table, :, row], strict=True)
        pairs = [Pair(*map(float, value)) for value in values]
        decision = decide_in_sequence(pairs, plan, threshold, ended=True)
        for kind, flags in kinds.items():
            assert flags[table, row] == (decision.verdict is kind)
        assert found.pairs[table, row] == decision.pairs
        seen.add(decision.verdict)
    assert len(seen) >= 3 or plan.max_pairs == 6


def test_one_process_a_side_is_judged_as_one_row_is() -> None:
    known = times(Noise("", outliers=0.1), tables=1, processes=40)
    _, both = margins_of(known, 0.001)
    rows = known[0].T
    reaches = max_spread([*rows])
    for half, row, reach in zip(both[0].tolist(), rows, reaches, strict=True):
        spread = math.sqrt(2) * float(np.std(row, ddof=1))
        noise = RowNoise(0.0, spread, 20, float(reach))
        interval = decide_once(0.3, 0.001, 0.02, noise).interval
        assert interval is not None
        assert (interval.high - 0.3, 0.3 - interval.low) == pytest.approx((half, half))


def test_pairs_are_new_over_base_whoever_ran_first() -> None:
    logs = np.array([0.0, 1.0, 10.0, 13.0])[None, :, None]
    assert abba(5).tolist() == [False, True, False, True, False]
    assert ratios(logs, abba(2)).ravel().tolist() == [1.0, -3.0]
    coins = np.array([[True, False]])
    assert ratios(logs, coins).ravel().tolist() == [-1.0, 3.0]


def test_noise_has_the_variance_that_it_names() -> None:
    rng = np.random.default_rng(2)
    for skewed in (False, True):
        noise = Noise("", process=0.02, icc=0.8, skewed=skewed)
        each = log_times(noise, rng, (1, 4000, 1, 9)).astype(float)[0, :, 0]
        assert share_between(each) == pytest.approx(0.8, abs=0.02)
        assert np.std(each) == pytest.approx(0.02 / math.sqrt(0.8), rel=0.05)


def test_each_kind_of_noise_does_what_it_says() -> None:
    quiet = Noise("", process=1e-6)
    drift = times(replace(quiet, drift=0.5))
    assert drift[0, [0, -1], 0] == pytest.approx([0, 0.5], abs=1e-4)
    comes = times(replace(quiet, neighbor=0.4)).round(3)
    assert set(np.unique(comes)) == {0.0, 0.4}
    stays = (np.diff(comes[:, :, 0], axis=1) == 0).mean()
    assert stays == pytest.approx(1 - 1 / 8, abs=0.03)
    rhythm = times(replace(quiet, neighbor=0.4, rhythm=True)).round(3)
    assert rhythm[0, :5, 0].tolist() == [0.0, 0.4, 0.4, 0.0, 0.0]
    slow = times(replace(quiet, outliers=0.05), tables=100)
    assert (slow > 0.01).mean() == pytest.approx(0.05, abs=0.006)
    assert 1.3 < np.exp(slow[slow > 0.01]).min() < np.exp(slow).max() < 3.001
    alike = times(replace(quiet, outliers=0.05, common=True))
    assert np.ptp(alike, axis=2).max() < 1e-4
    skewed = times(Noise("", skewed=True), tables=200).ravel()
    assert np.mean((skewed - skewed.mean()) ** 3) / np.std(skewed) ** 3 > 1


def test_a_process_remembers_the_one_before() -> None:
    logs = times(Noise("", memory=0.5, icc=0.999), tables=400)
    for lag, expected in ((1, 0.5), (2, 0.25)):
        earlier, later = logs[:, :-lag].ravel(), logs[:, lag:].ravel()
        assert np.corrcoef(earlier, later)[0, 1] == pytest.approx(expected, abs=0.02)


def test_bounds_are_clopper_and_pearsons() -> None:
    assert at_most(0, 100) == pytest.approx(1 - 0.025 ** (1 / 100))
    assert at_most(9, 9) == 1.0
    # From the paper's example: 10 of 100.
    assert at_most(10, 100) == pytest.approx(0.1762, abs=1e-4)
    assert bounded(np.zeros(1000, bool)) == "0 % (≤ 0.37 %)"
    assert (share(1999, 2000), share(2000, 2000)) == ("> 99 %", "100 %")
