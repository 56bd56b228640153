# SPDX-License-Identifier: MIT
"""Looks share the error, and nothing is decided between looks."""

import pytest

from reports.compare.decision import RowNoise, Verdict, decide_once, decide_pairs
from reports.compare.intervals import MANY_PAIRS, Pair
from reports.compare.sequential import Plan, decide_from_files, decide_in_sequence

PLANS = [Plan(rows, most) for rows in (1, 10, 50, 500) for most in (3, 12, 40, 200)]


@pytest.mark.parametrize("plan", PLANS)
def test_the_errors_of_every_path_add_up_to_the_rows_share(plan: Plan) -> None:
    looks = plan.looks()
    for taken in range(len(looks) + 1):
        spent = sum(look.alpha for look in looks[:taken])
        assert spent + plan.rest(taken) == pytest.approx(0.05 / plan.rows)
        assert spent + plan.rest(taken) <= 0.05 / plan.rows * (1 + 1e-12)


def test_looks_are_those_of_the_documents() -> None:
    assert [look.pairs for look in Plan(50, 40).looks()] == [12, 18, 27]
    assert [look.pairs for look in Plan(1, 40).looks()] == [7, 11, 17, 26, 39]
    assert Plan(50, 12).looks() == []


SLOWER = [Pair(0.1 + 0.001 * i) for i in range(40)]
FASTER = Pair(-1.0)
PLAN = Plan(50, 40)


def test_a_known_spread_has_half_of_the_error_and_pairs_have_the_rest() -> None:
    noise, half = RowNoise(0.01, 0.01, 20, 0), Plan(50, 40, alpha=0.025)
    for n in (1, 2, 12, 13):
        found = decide_from_files(SLOWER[:n], 0.1, PLAN, 0.02, noise)
        once = decide_once(0.1, 0.025 / 50, 0.02, noise)
        later = decide_in_sequence(SLOWER[:n], half, 0.02, ended=False)
        assert found == (once if n == 1 else later)


def test_an_undecided_row_needs_the_pairs_of_a_later_look() -> None:
    plan = Plan(1, 40)  # with looks at 7, 11, 17, 26 and 39 pairs
    for by, until in ((0.02, 11), (0.025, 26), (0.1, None)):
        pairs = [Pair(0.05 + by * sign) for sign in (-2, -1, -1, 0, 1, 1, 2)]
        found = decide_in_sequence(pairs, plan, 0.02, ended=False)
        assert found.more_pairs is not None
        after = found.pairs + found.more_pairs
        assert after == until if until else after > 39
    noisy = [Pair(each) for each in (0.02, 1, -1, 0.02, 1, -1, 0.02, 0)]
    found = decide_in_sequence(noisy, plan, 0.02, ended=False)
    assert found.more_pairs == MANY_PAIRS


def test_between_looks_it_says_what_the_last_one_said() -> None:
    # Undecided at 18; a look at 26 would decide it.
    values = [FASTER] + [Pair(0.1)] * 39
    peeked = decide_pairs(values[:26], PLAN.rest(2), 0.02)
    assert peeked.verdict is Verdict.REGRESSED
    last = decide_in_sequence(values[:18], PLAN, 0.02, ended=False)
    assert last.verdict is Verdict.INCONCLUSIVE and last.pairs == 18
    for n in range(19, 27):
        found = decide_in_sequence(values[:n], PLAN, 0.02, ended=False)
        assert found.verdict is Verdict.INCONCLUSIVE
        assert (found.interval, found.pairs) == (last.interval, 18)
        assert found.more_pairs is not None and found.more_pairs >= 1
