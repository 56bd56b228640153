# SPDX-License-Identifier: MIT
"""The simulation uses the real rule to judge."""

import math

import numpy as np
import pytest

from reports.calibration.noise import Noise, log_medians
from reports.calibration.rule import abba, in_sequence, ratios
from reports.calibration.samples import Floats
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
    errors[:, 3] = 0  # unknown
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
