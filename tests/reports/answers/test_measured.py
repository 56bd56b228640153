# SPDX-License-Identifier: MIT
"""Counters with their intervals."""

import math
import statistics
from dataclasses import replace

import pytest

from reports.answers.measured import (
    Measured,
    counter_of,
    differ,
    exactly,
    exponent,
    least,
    ratio_to,
    time_of,
    total,
    unknown,
)
from reports.results.rows import Row, Turns
from reports.results.text import size, time


def row(**counters: float) -> Row:
    return Row("a/b", counters.get("p50_us", 1.0), {}, {}, counters)


def ends(measured: Measured) -> tuple[float, float, float]:
    return measured.value, measured.low, measured.high


def spread(value: float, half_width: float) -> Measured:
    low, high = value * math.exp(-half_width), value * math.exp(half_width)
    return Measured(value, low, high) if math.isfinite(half_width) else unknown(value)


def test_a_time_has_the_interval_of_its_row() -> None:
    timed = {"p50_us": 100, "p50_low_us": 99, "p50_high_us": 150}
    time = counter_of(row(**timed), "p50_us")
    assert time == time_of(row(**timed)) and ends(time) == (100, 99, 150)
    assert time.text() == "100 (99 to 150)"


def test_what_follows_from_the_time_has_its_interval() -> None:
    timed = row(**{"p50_us": 100, "p50_low_us": 80, "p50_high_us": 200, "op_us": 5})
    assert ends(counter_of(timed, "op_us")) == (5, 4, 10)
    for rate in ("flops_per_second", "mfu_measured", "hfu", "bandwidth_share"):
        timed.counters[rate] = 10
        found = counter_of(timed, rate)
        assert (found.low, found.high) == pytest.approx((5, 12.5))


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


def test_a_phase_has_an_interval_of_its_own_or_none() -> None:
    whole = {"p50_us": 100, "p50_low_us": 90, "p50_high_us": 120, "backward_us": 50}
    assert not counter_of(row(**whole), "backward_us").is_known
    known = whole | {"backward_low_us": 49, "backward_high_us": 70}
    assert ends(counter_of(row(**known), "backward_us")) == (50, 49, 70)


def test_a_mean_lies_between_the_samples() -> None:
    mean = {"samples": 4, "mean_us": 100, "cv": 0.5, "min_us": 60, "max_us": 190}
    # 3.18 standard errors of 25 would reach down to 20.
    assert counter_of(row(**mean), "mean_us").low == 60
    assert counter_of(row(**mean), "mean_us").high == pytest.approx(179.6, rel=1e-3)
    del mean["cv"]
    assert not counter_of(row(**mean), "mean_us").is_known


def test_what_two_rows_or_one_call_made_is_unknown() -> None:
    made = row(
        p50_low_us=1, p50_high_us=1, speedup=2, overlap_share=-0.5, first_call_us=9
    )
    made.counters["backward_max_us"] = 7
    for counter in ("speedup", "overlap_share", "first_call_us", "backward_max_us"):
        assert not counter_of(made, counter).is_known


def test_a_row_may_state_an_interval_of_its_own() -> None:
    stated = row(
        **{"p50_us": 100},
        **{"exposed_us": 5, "exposed_low_us": -1, "exposed_high_us": 9},
        **{"overlap_share": 0.5, "overlap_share_low": 0.2, "overlap_share_high": 0.6},
    )
    assert ends(counter_of(stated, "exposed_us")) == (5, -1, 9)
    assert ends(counter_of(stated, "overlap_share")) == (0.5, 0.2, 0.6)
    # A single end is no interval.
    del stated.counters["exposed_high_us"]
    assert not counter_of(stated, "exposed_us").is_known
    # A ratio that may be negative has no logarithm.
    assert not (exactly(1) / Measured(5, -1, 9)).is_known


def test_the_first_call_of_a_warm_up_is_no_noise() -> None:
    """As in the committed run: ten calls with a cv of 14 %, the last five 1.7 %."""
    calls = {"cv": 0.14, "samples": 10, "steady_ratio": 1.07, "first_ratio": 1.44}
    steady = counter_of(row(**calls, steady_cv=0.017), "steady_ratio")
    assert (steady.low, steady.high) == pytest.approx((1.037, 1.103), abs=1e-3)
    first = counter_of(row(**calls, steady_cv=0.017), "first_ratio")
    assert (first.low, first.high) == pytest.approx((1.362, 1.518), abs=1e-3)
    noisy = counter_of(row(**calls, steady_cv=0.1), "steady_ratio")
    assert noisy.low < 1
    assert not counter_of(row(**calls), "steady_ratio").is_known


def test_a_ratio_adds_both_uncertainties() -> None:
    ratio = spread(20, 0.03) / spread(10, 0.04)
    assert ratio.value == 2
    assert math.log(ratio.high / ratio.low) / 2 == pytest.approx(0.05)
    assert not (exactly(2) / spread(1, math.inf)).is_known
    assert exactly(4) / exactly(2) == exactly(2)
    negative = spread(-20, 0.03) / spread(10, 0.04)
    assert (negative.low, negative.high) == pytest.approx((-ratio.high, -ratio.low))


def test_disjoint_intervals_differ_however_skewed() -> None:
    """From a committed run: half-widths alone cannot separate fp32 from bf16."""
    fp32, bf16 = Measured(95, 83, 215), Measured(74, 73, 74.8)
    assert differ(fp32, bf16)
    ratio = fp32 / bf16
    assert fp32.low / bf16.high < ratio.low < ratio.high < fp32.high / bf16.low
    assert not differ(Measured(80, 70, 215), bf16)


def test_only_separate_intervals_differ() -> None:
    assert differ(spread(120, 0.05), spread(100, 0.05))
    assert not differ(spread(105, 0.05), spread(100, 0.05))
    assert not differ(spread(900, math.inf), spread(100, 0.05))


def test_runs_shrink_an_interval_with_their_square_root() -> None:
    # With a half-width of 10 % and a distance of 2 %, 25 runs are needed.
    assert "about 25 runs" in Measured(102, 92, 112).runs_to_tell(100)
    assert "about 6 runs" in Measured(109, 99, 119).runs_to_tell(100)
    assert "not even 100 runs" in Measured(100.01, 90, 110).runs_to_tell(100)
    # The nearer bound decides; an infinite bound is never reached.
    assert "about 7 runs" in Measured(104, 94, 114).runs_to_tell(-math.inf, 100)


def test_exponents() -> None:
    exact = [(seq, exactly(3.0 * seq**2)) for seq in (128, 256, 512)]
    assert exponent(exact).text() == "2"
    noisy = [(seq, spread(3.0 * seq**2, 0.1)) for seq in (128, 256, 512)]
    fitted = exponent(noisy)
    assert fitted.value == pytest.approx(2)
    # The outer points decide: 0.1 * sqrt(2) over log 4.
    assert fitted.high - fitted.value == pytest.approx(0.1 * 2**0.5 / math.log(4))
    above = [(seq, Measured(y.value, y.value, y.high)) for seq, y in noisy]
    # Either the last point or the first one may be higher.
    fitted = exponent(above)
    assert fitted.high - fitted.value == pytest.approx(0.1 / math.log(4))
    assert fitted.value - fitted.low == pytest.approx(0.1 / math.log(4))
    assert not exponent([*exact[:2], (512, spread(1, math.inf))]).is_known


def test_a_sum_and_a_difference_add_both_uncertainties() -> None:
    one, other = Measured(10, 7, 13), Measured(20, 16, 24)
    assert total([one, other]) == Measured(30, 25, 35)
    assert other - one == Measured(10, 5, 15)
    assert one - exactly(4) == Measured(6, 3, 9)
    assert total([]) == exactly(0)
    assert not (one - spread(2, math.inf)).is_known


def test_a_negative_factor_turns_the_ends_around() -> None:
    assert Measured(10, 8, 13) * -2 == Measured(-20, -26, -16)
    assert spread(1, math.inf) * 0 == exactly(0)


def test_the_ratio_of_differences_may_be_negative() -> None:
    ratio = ratio_to(Measured(-5, -8, -2), Measured(10, 2, 18))
    assert ratio == Measured(-0.5, -1, 0)  # 3 of 5, and 0.5 * 8
    assert not ratio_to(exactly(1), spread(2, math.inf)).is_known
    assert not ratio_to(spread(1, 0.1), exactly(0)).is_known


def test_a_wide_interval_is_stated_by_its_ends() -> None:
    assert Measured(20, 19, 21).plus_minus(str) == "20 ± 5 %"
    assert Measured(20, 19, 60).plus_minus(str) == "20 (19 to 60)"
    assert Measured(20, 0.9, 60).plus_minus(time) == "20 us (900 ns to 60 us)"
    assert Measured(20, 19, 60).plus_minus(time) == "20 us (19 to 60 us)"
    assert unknown(20).plus_minus(str) == "20"


def turned(name: str, *us: float, family: str = "f") -> Row:
    counters = {"p50_us": us[0], "p50_low_us": 1.0, "p50_high_us": 1e3, "mfu": 0.5}
    return Row(name, us[0], {}, {}, counters, turns=Turns(name, family, us))


def test_rows_that_took_turns_are_compared_turn_by_turn() -> None:
    slow = turned("a", 20, 40, 80, 21, 41, 81)
    fast = turned("b", 10, 20, 40, 10, 20, 40)
    ratio = time_of(slow) / time_of(fast)
    assert ends(ratio) == (2.0125, 2, 2.1)
    assert ends(exactly(1) / ratio) == pytest.approx((1 / 2.0125, 1 / 2.1, 0.5))
    assert differ(time_of(slow), time_of(fast))
    # Other counters have no turns, but were measured at the same time.
    share = counter_of(slow, "mfu") / counter_of(fast, "mfu")
    assert share.is_fair and not share.outside(1, 1)


def test_the_interval_of_a_ratio_is_of_students_t_over_the_visits() -> None:
    def ratio(*us: float, visits: tuple[int, ...]) -> Measured:
        def of(name: str, *us: float) -> Row:
            turns = Turns(name, "f", us, visits=visits, process_spread=0.01)
            return replace(turned(name, *us), turns=turns)

        return time_of(of("a", *us)) / time_of(of("b", *[1.0] * len(us)))

    def around_2(relative: float) -> object:
        both = (2 * math.exp(-relative), 2 * math.exp(relative))
        return pytest.approx((2, *both), rel=1e-3)

    assert ends(ratio(*[2.0] * 12, visits=(6, 6))) == (2, 2, 2), "not beyond the turns"
    two = ratio(1.0, *[2.0] * 10, 9.0, visits=(6, 6))
    assert ends(two) == around_2(0.01), "they are the turns' interval"
    three = ratio(1.0, *[2.0] * 6, 9.0, *[2.2] * 4, visits=(4, 4, 4))
    error = statistics.stdev((2, 2, 2.2)) / (6.2 / 3) / math.sqrt(3)
    assert ends(three) == around_2(math.hypot(4.303 * error, 0.01))


def test_a_row_that_won_its_turns_is_a_rival_of_the_least_median() -> None:
    us = (10.0, 20.0, 30.0, 40.0, 50.0, 60.0)
    named = {
        "least": time_of(replace(turned("a", *us), time_us=10)),
        "quicker": time_of(replace(turned("b", *(0.9 * t for t in us)), time_us=11)),
        "slower": time_of(replace(turned("c", *(2 * t for t in us)), time_us=20)),
    }
    assert least(named) == ("least", ["quicker"])


def test_rows_that_took_no_turns_are_not_told_apart() -> None:
    one = Row("a", 10, {}, {}, {"p50_us": 10, "p50_low_us": 9, "p50_high_us": 11})
    other = replace(one, name="b", time_us=30, counters=dict(one.counters, p50_us=30))
    other.counters.update({"p50_low_us": 29.0, "p50_high_us": 31.0})
    ratio = time_of(other) / time_of(one)
    assert not ratio.is_fair and not differ(time_of(other), time_of(one))
    assert "--processes=6" in ratio.runs_to_tell(1)
    assert "--processes=6" in exponent(
        [(1, time_of(one)), (2, time_of(other))]
    ).runs_to_tell(1)
    unlike = turned("c", *[5.0] * 6, family="another")
    assert not (time_of(turned("a", *[9.0] * 6)) / time_of(unlike)).is_fair
    # Two times of one row are from the same calls, and a fixed number is from none.
    assert (time_of(one) / counter_of(one, "p50_us")).is_fair
    assert (exactly(7) / time_of(one)).is_fair


def test_processes_are_compared_one_by_one() -> None:
    def of(*us: float) -> Row:
        counters = {"p50_us": us[0], "p50_low_us": min(us), "p50_high_us": max(us)}
        each = {"p50_us": us}
        return Row("a", us[0], {}, {}, counters, repetitions=len(us), each=each)

    slow, fast = of(20, 40, 80, 22, 42, 84), of(10, 20, 40, 10, 20, 40)
    ratio = time_of(slow) / time_of(fast)
    assert ratio.is_fair and ends(ratio) == (2.05, 2, 2.2)
