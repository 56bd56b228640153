# SPDX-License-Identifier: MIT
"""Counters with their intervals. The committed pages have their texts."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

import pytest
from scipy.stats import ttest_1samp

from reports.answers.conclusions import differ, exponent
from reports.answers.measured import (
    Measured,
    Series,
    counter_of,
    exactly,
    ratio_to,
    time_of,
    total,
    unknown,
)
from reports.results.counters import CounterTable
from reports.results.rows import NotAResult, Row, Turns


def row(**counters: float) -> Row:
    return Row("a/b", counters.get("p50_us", 1.0), {}, {}, counters)


def ends(measured: Measured) -> tuple[float, float, float]:
    return measured.value, measured.low, measured.high


def spread(value: float, half_width: float) -> Measured:
    low, high = value * math.exp(-half_width), value * math.exp(half_width)
    return Measured(value, low, high) if math.isfinite(half_width) else unknown(value)


WHOLE = {"p50_us": 100.0, "p50_low_us": 80.0, "p50_high_us": 200.0}
BACKWARD = WHOLE | {"backward_us": 50}
OWN = BACKWARD | {"backward_low_us": 49, "backward_high_us": 70}
OWN |= {"overlap_share": 0.5, "overlap_share_low": -1, "overlap_share_high": 0.6}
RATES = ("flops_per_second", "mfu_measured", "hfu", "bandwidth_share")
EXACT = ("peak_bytes", "calls", "ops_per_step", "logits_error", "predicted_us")
UNKNOWN = ("speedup", "overlap_share", "steady_ratio", "first_call_us", "mean_us")


@pytest.mark.parametrize(
    ("counter", "counters", "interval"),
    [
        ("p50_us", WHOLE, (80, 200)),
        ("p50_us", {"p50_us": 100}, None),
        # What follows from the time has its interval.
        ("op_us", WHOLE | {"op_us": 5}, (4, 10)),
        *((rate, WHOLE | {rate: 10}, (5, 12.5)) for rate in RATES),
        *((name, WHOLE | {name: 7}, (7, 7)) for name in EXACT),
        # A phase has an interval of its own or none; a single end is none.
        ("backward_us", BACKWARD, None),
        ("backward_us", BACKWARD | {"backward_low_us": 49}, None),
        ("backward_us", OWN, (49, 70)),
        ("overlap_share", OWN, (-1, 0.6)),
        # They compare two rows, or are of one call, or of the warm-up.
        *((name, WHOLE | {name: -0.5}, None) for name in (*UNKNOWN, "driven_us")),
    ],
)
def test_the_interval_of_a_counter(
    counter: str, counters: dict[str, float], interval: tuple[float, float] | None
) -> None:
    found = counter_of(row(**counters), counter)
    assert found.value == counters[counter] and found.is_known == bool(interval)
    if interval:
        assert (found.low, found.high) == pytest.approx(interval, rel=1e-3)


PROCESSES = (100.0, 90.0, 130.0, 95.0, 105.0, 99.0)


@pytest.mark.parametrize(
    ("counter", "interval"),
    [
        *((name, (90, 130)) for name in ("mean_us", "first_ratio", "rank_spread")),
        *((name, None) for name in ("min_us", "backward_stddev_us")),
        *((name, (100, 100)) for name in ("calls", "samples", "cv")),
    ],
)
def test_several_processes_give_an_interval(
    counter: str, interval: tuple[float, float] | None
) -> None:
    """Not to what is exact, nor to what is no median of theirs."""
    one = row(**{counter: 100})
    found = counter_of(replace(one, each={counter: PROCESSES}), counter)
    assert ((found.low, found.high) if found.is_known else None) == interval
    few = replace(one, each={counter: PROCESSES[:5]})
    assert counter_of(few, counter) == counter_of(one, counter)


def test_values_of_the_same_processes_are_added_process_by_process() -> None:
    def of(*values: float) -> Measured:
        each = {"p50_us": values}
        wide = {"p50_us": 100, "p50_low_us": 90, "p50_high_us": 130}
        return time_of(replace(row(**wide), each=each))

    one, other = of(*PROCESSES), of(*(200 - value for value in PROCESSES))
    # What one loses the other gains, in each process.
    assert ends(total([one, exactly(3), other])) == (203, 203, 203)
    assert ends(one - one) == (0, 0, 0)
    fewer = total([one, of(*PROCESSES[:5])])
    assert fewer.low == pytest.approx(200 - math.hypot(10, 10)), "as independent"


@pytest.mark.parametrize(
    ("series", "independent"),
    [
        (Series("several processes", PROCESSES), PROCESSES),
        # Turns of three visits, by the median of each.
        (Series("f", (*PROCESSES, 80, 98, 97), visits=(3, 3, 3)), (100, 99, 97)),
    ],
)
def test_doubts_of_few_are_of_students_t(
    series: Series, independent: Sequence[float]
) -> None:
    found = Measured(series.middle, 90, 130, series)
    wider = replace(found, series=replace(series, process_spread=0.1))
    for bound in (60, 85):
        doubt = ttest_1samp(independent, bound).pvalue
        for bounds in ((bound, math.inf), (-math.inf, bound)):
            assert found.doubt(*bounds) == pytest.approx(doubt)
            assert found.doubt(*bounds) < wider.doubt(*bounds)


def test_a_time_without_an_interval_tells_nothing() -> None:
    told = row(p50_us=100.0)
    # Another program's result may have no p50_us among its counters.
    for made in (told, replace(told, table=CounterTable(()))):
        found = time_of(made)
        assert not found.within(0, 1e9) and not found.outside(200, 300)
        assert "6 runs" in found.runs_to_tell(200)


@pytest.mark.parametrize("end", ["p50_low_us", "p50_high_us"])
def test_a_value_outside_its_interval_is_an_error(end: str) -> None:
    wrong = row(**WHOLE | {end: {"p50_low_us": 100.1, "p50_high_us": 0.0}[end]})
    with pytest.raises(
        NotAResult, match=r"p50_us of a/b is 100; allowed: its interval"
    ):
        time_of(wrong)
    rounded = row(**dict.fromkeys(WHOLE, 285.649) | {"p50_us": 285.64899999999994})
    assert time_of(rounded).is_known


def test_a_ratio_adds_both_uncertainties() -> None:
    ratio = spread(20, 0.03) / spread(10, 0.04)
    assert ratio.value == 2
    # About the hypotenuse of 0.03 and 0.04.
    assert math.log(ratio.high / ratio.low) / 2 == pytest.approx(0.05000006)
    assert not (exactly(2) / spread(1, math.inf)).is_known
    # The divisor may be 0.
    assert not (exactly(1) / Measured(5, -1, 9)).is_known
    assert exactly(4) / exactly(2) == exactly(2)
    negative = spread(20, 0.03) * -1 / spread(10, 0.04)
    assert (negative.low, negative.high) == pytest.approx((-ratio.high, -ratio.low))


def test_runs_shrink_an_interval_with_their_square_root() -> None:
    # With a half-width of 10 % and a distance of 2 %, 25 runs are needed.
    assert "about 25 runs" in Measured(102, 92, 112).runs_to_tell(100)
    assert "about 6 runs" in Measured(109, 99, 119).runs_to_tell(100)
    assert "not even 100 runs" in Measured(100.01, 90, 110).runs_to_tell(100)
    series = Series("several processes", (1.0,) * 24)
    sources = frozenset({series.key})
    for half, runs in ((2.2, 30), (1.0, 25)):
        processes = Measured(102, 102 - half, 102 + half, series, sources)
        assert f"about {runs} runs" in processes.runs_to_tell(100)
    unknown = Measured(102, 97, 107, sources=sources)
    assert unknown.runs_to_tell(100) == "about 7 times as many runs would tell"
    # The nearer bound decides; an infinite bound is never reached.
    assert "about 7 runs" in Measured(104, 94, 114).runs_to_tell(-math.inf, 100)


def exponent_of(points: Sequence[tuple[float, Measured]]) -> Measured:
    found = exponent(points)
    assert found is not None
    return found


@pytest.mark.parametrize("places", [[], [1], [8, 8], [1, -2.5], [0, 8], [1, math.nan]])
def test_growth_needs_two_places_above_0(places: list[float]) -> None:
    assert exponent([(place, exactly(1)) for place in places]) is None


def test_the_interval_of_an_exponent() -> None:
    exact = [(seq, exactly(3.0 * seq**2)) for seq in (128, 256, 512)]
    noisy = [(seq, spread(3.0 * seq**2, 0.1)) for seq in (128, 256, 512)]
    fitted = exponent_of(noisy)
    assert fitted.value == pytest.approx(2)
    # The outer points decide: 0.1 * sqrt(2) over log 4.
    assert fitted.high - fitted.value == pytest.approx(0.1 * 2**0.5 / math.log(4))
    above = [(seq, Measured(y.value, y.value, y.high)) for seq, y in noisy]
    # Either the last point or the first one may be higher.
    fitted = exponent_of(above)
    assert fitted.high - fitted.value == pytest.approx(0.1 / math.log(4))
    assert fitted.value - fitted.low == pytest.approx(0.1 / math.log(4))
    assert not exponent_of([*exact[:2], (512, spread(1, math.inf))]).is_known


ONE, WIDE = Measured(10, 7, 13), Measured(10, 2, 18)
NEGATIVE = Measured(-5, -8, -2)


@pytest.mark.parametrize("one", [ONE, NEGATIVE, Measured(1, -1, 4), exactly(0)])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_ends_of_a_ratio_are_those_at_which_it_may_be(
    one: Measured, sign: int
) -> None:
    """Differences may be negative."""
    other = WIDE * sign
    ratio = ratio_to(one, other)
    assert ratio.value == one.value / other.value
    lowest, highest = one - other * ratio.low, one - other * ratio.high
    ends = (lowest.low, highest.high) if sign > 0 else (lowest.high, highest.low)
    assert ends == pytest.approx((0, 0), abs=1e-9)


def test_what_has_an_unknown_part_is_unknown() -> None:
    assert unknown(1) * 0 == exactly(0)
    assert not (ONE - unknown(2)).is_known
    assert not ratio_to(exactly(1), unknown(2)).is_known
    for divisor in (exactly(0), Measured(1, -1, 3), Measured(-1, -3, 1)):
        assert not ratio_to(ONE, divisor).is_known


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

    def around(middle: float, relative: float) -> object:
        both = (middle * math.exp(-relative), middle * math.exp(relative))
        return pytest.approx((middle, *both), rel=1e-3)

    assert ends(ratio(*[2.0] * 12, visits=(6, 6))) == around(2, 0.01), "of processes"
    two = ratio(1.0, *[2.0] * 10, 9.0, visits=(6, 6))
    assert ends(two) == around(2, 0.01), "they are the turns' interval"
    # A visit with many turns counts no more than others.
    three = ratio(1.0, *[2.0] * 13, 9.0, *[2.2] * 4, visits=(10, 5, 4))
    middle = (2 + 2 + 2.2) / 3
    error = statistics.stdev((2, 2, 2.2)) / middle / math.sqrt(3)
    assert ends(three) == around(middle, math.hypot(4.303 * error, 0.01))


def test_rows_that_took_no_turns_are_not_told_apart() -> None:
    one = Row("a", 10, {}, {}, {"p50_us": 10, "p50_low_us": 9, "p50_high_us": 11})
    other = replace(one, name="b", time_us=30, counters=dict(one.counters, p50_us=30))
    other.counters.update({"p50_low_us": 29.0, "p50_high_us": 31.0})
    ratio = time_of(other) / time_of(one)
    assert not ratio.is_fair and not differ(time_of(other), time_of(one))
    assert "--processes=6" in ratio.runs_to_tell(1)
    assert "--processes=6" in exponent_of(
        [(1, time_of(one)), (2, time_of(other))]
    ).runs_to_tell(1)
    unlike = turned("c", *[5.0] * 6, family="another")
    assert not (time_of(turned("a", *[9.0] * 6)) / time_of(unlike)).is_fair
    # Two times of one row are from the same calls, and a fixed number is from none.
    assert (time_of(one) / counter_of(one, "p50_us")).is_fair
    assert (exactly(7) / time_of(one)).is_fair
