# SPDX-License-Identifier: MIT
"""Counters with their intervals."""

import math

import pytest

from reports.answers.measured import (
    Measured,
    counter_of,
    differ,
    exactly,
    exponent,
    minus,
    over,
    ratio_to,
    spread,
    times,
    total,
)
from reports.results.rows import Row
from reports.results.text import size


def row(**counters: float) -> Row:
    return Row("a/b", counters.get("p50_us", 1.0), {}, {}, counters)


def test_a_time_has_the_interval_of_its_row() -> None:
    time = counter_of(row(p50_us=100, half_width=0.1), "p50_us")
    assert time.low == pytest.approx(90, rel=0.01)
    assert time.high == pytest.approx(110, rel=0.01)
    assert time.text() == "100 (90.5 to 111)"
    rate = counter_of(row(half_width=0.1, flops_per_second=5), "flops_per_second")
    assert rate.half_width == pytest.approx(0.1, rel=0.01)


def test_a_time_without_an_interval_is_unknown() -> None:
    time = counter_of(row(p50_us=100), "p50_us")
    assert not time.is_known and time.text() == "100 (no interval)"
    assert not time.within(0, 1e9) and not time.outside(200, 300)
    assert "6 runs" in time.runs_to_tell(200)


def test_bytes_counts_and_predictions_are_exact() -> None:
    for counter in ("peak_bytes", "calls", "ops_per_step", "logits_error"):
        assert counter_of(row(**{counter: 2048}), counter).half_width == 0
    assert counter_of(row(predicted_us=7), "predicted_us") == exactly(7)
    assert counter_of(row(peak_bytes=2048), "peak_bytes").text(size) == "2 KiB"


def test_a_phase_has_its_part_of_the_rows_interval() -> None:
    whole = {"p50_us": 100.0, "half_width": 0.06, "backward_us": 50.0}
    # Without its own deviation it may have caused all of the row's.
    assert counter_of(row(**whole), "backward_us").half_width == pytest.approx(
        0.12, rel=0.01
    )
    spreads = {"stddev_us": 10.0, "backward_stddev_us": 5.0}
    assert counter_of(row(**whole, **spreads), "backward_us").half_width == (
        pytest.approx(0.06, rel=0.01)
    )


def test_what_two_rows_or_one_call_made_is_unknown() -> None:
    made = row(half_width=0.01, speedup=2, overlap_share=-0.5, first_call_us=9)
    made.counters["backward_max_us"] = 7
    for counter in ("speedup", "overlap_share", "first_call_us", "backward_max_us"):
        assert not counter_of(made, counter).is_known


def test_a_row_may_state_an_interval_of_its_own() -> None:
    stated = row(
        **{"p50_us": 100, "half_width": 0.1},
        **{"exposed_us": 5, "exposed_low_us": -1, "exposed_high_us": 9},
        **{"overlap_share": 0.5, "overlap_share_low": 0.2, "overlap_share_high": 0.6},
    )
    assert counter_of(stated, "exposed_us") == Measured(5, -1, 9)
    assert counter_of(stated, "overlap_share") == Measured(0.5, 0.2, 0.6)
    # One end alone is none.
    del stated.counters["exposed_high_us"]
    assert not counter_of(stated, "exposed_us").is_known
    # A ratio has no logarithm where it may be negative.
    assert not over(exactly(1), Measured(5, -1, 9)).is_known


def test_the_ratios_of_a_warm_up_vary_with_its_samples() -> None:
    noisy = row(cv=0.3, samples=10, steady_ratio=1.1, first_ratio=1.25)
    assert counter_of(noisy, "steady_ratio").low < 1 < 1.4
    assert counter_of(noisy, "first_ratio").low < 1
    quiet = row(cv=0.01, samples=10, steady_ratio=1.1, first_ratio=1.25)
    assert counter_of(quiet, "steady_ratio").low > 1
    assert counter_of(quiet, "first_ratio").low > 1
    assert not counter_of(row(steady_ratio=1), "steady_ratio").is_known


def test_a_ratio_adds_both_uncertainties() -> None:
    ratio = over(spread(20, 0.03), spread(10, 0.04))
    assert ratio.value == 2
    assert math.log(ratio.high / ratio.low) / 2 == pytest.approx(0.05)
    assert not over(exactly(2), spread(1, math.inf)).is_known
    assert over(exactly(4), exactly(2)) == exactly(2)


def test_only_separate_intervals_differ() -> None:
    assert differ(spread(120, 0.05), spread(100, 0.05))
    assert not differ(spread(105, 0.05), spread(100, 0.05))
    assert not differ(spread(900, math.inf), spread(100, 0.05))


def test_runs_shrink_an_interval_with_their_square_root() -> None:
    # 10 % half-width, 2 % away: 25 runs.
    assert "about 25 runs" in Measured(102, 92, 112).runs_to_tell(100)
    assert "about 6 runs" in Measured(109, 99, 119).runs_to_tell(100)
    assert "not even 100 runs" in Measured(100.01, 90, 110).runs_to_tell(100)
    # The nearer bound decides; an infinite one is never reached.
    assert "about 7 runs" in Measured(104, 94, 114).runs_to_tell(-math.inf, 100)


def test_a_negative_value_keeps_its_ends_in_order() -> None:
    value = spread(-1, 0.5)
    assert value.low < -1 < value.high < 0


def test_exponents() -> None:
    exact = [(seq, exactly(3.0 * seq**2)) for seq in (128, 256, 512)]
    assert exponent(exact).text() == "2"
    noisy = [(seq, spread(3.0 * seq**2, 0.1)) for seq in (128, 256, 512)]
    fitted = exponent(noisy)
    assert fitted.value == pytest.approx(2)
    # The outer points decide: 0.1 * sqrt(2) over log 4.
    assert fitted.high - fitted.value == pytest.approx(0.1 * 2**0.5 / math.log(4))
    assert not exponent([*exact[:2], (512, spread(1, math.inf))]).is_known


def test_a_sum_and_a_difference_add_both_uncertainties() -> None:
    one, other = Measured(10, 7, 13), Measured(20, 16, 24)
    assert total([one, other]) == Measured(30, 25, 35)
    assert minus(other, one) == Measured(10, 5, 15)
    assert minus(one, exactly(4)) == Measured(6, 3, 9)
    assert total([]) == exactly(0)
    assert not minus(one, spread(2, math.inf)).is_known


def test_a_negative_factor_turns_the_ends_around() -> None:
    assert times(Measured(10, 8, 13), -2) == Measured(-20, -26, -16)
    assert times(spread(1, math.inf), 0) == exactly(0)


def test_the_ratio_of_differences_may_be_negative() -> None:
    ratio = ratio_to(Measured(-5, -8, -2), Measured(10, 2, 18))
    assert ratio == Measured(-0.5, -1, 0)  # 3 of 5, and 0.5 * 8
    assert not ratio_to(exactly(1), spread(2, math.inf)).is_known


def test_a_half_width_that_tells_nothing_has_no_digits() -> None:
    assert Measured(2, 1, 3).plus_minus(str) == "2 ± 50 %"
    assert Measured(2, -1000, 1004).plus_minus(str) == "2 ± >999 %"
