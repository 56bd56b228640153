# SPDX-License-Identifier: MIT
"""A counter with its 95 % interval, and what the interval allows to say."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy.special import stdtrit

from reports.results import text
from reports.results.rows import Row
from reports.results.scaling import power_law_exponent

# Times that no interval of the row covers, as numbers of one call or of a tail.
_SINGLE = ("first_call_us", "min_us", "max_us", "p95_us")
# The same of a phase, e.g. backward_max_us.
_OF_PHASES = ("_mean_us", "_stddev_us", "_min_us", "_max_us")
# Ratios of a time to a fixed number, known as well as the row's time.
_SHARES = ("mfu", "mfu_measured", "mfu_datasheet", "bandwidth_share", "share")
# Ratios or differences of times of two rows, one of which is not at hand here,
# unless the row states the interval.
_OF_TWO_ROWS = (
    *("speedup", "time_ratio", "scaling_efficiency", "strong_speedup"),
    *("overlap_share", "exposed_us"),
)
FEWEST_RUNS = 6  # that give a 95 % interval (reports/results/rows.py)
UNKNOWN = 50.0  # a half-width from which on nothing is known
WIDEST = 9.995  # the widest half-width that is worth its digits
MANY_RUNS = 100  # more than anybody waits for
CANNOT_TELL = "cannot be told from this run"


@dataclass(frozen=True)
class Measured:
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Of the interval, relative to the value; infinite if unknown."""
        if self.low == self.high:
            return 0.0
        return (self.high - self.low) / 2 / abs(self.value) if self.value else math.inf

    @property
    def is_known(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    def within(self, low: float, high: float) -> bool:
        """Whether the whole interval is between these bounds."""
        return low <= self.low and self.high <= high

    def outside(self, low: float, high: float) -> bool:
        """Whether all of the interval is beyond one of the bounds."""
        return self.high < low or self.low > high

    def text(self, formatted: Callable[[float], str] = text.significant) -> str:
        """E.g. "2.1 (1.9 to 2.3)"; an exact value has no interval."""
        shown = formatted(self.value)
        if self.low == self.high:
            return shown
        if not self.is_known:
            return f"{shown} (no interval)"
        return f"{shown} ({formatted(self.low)} to {formatted(self.high)})"

    def plus_minus(self, formatted: Callable[[float], str]) -> str:
        """E.g. "2.1 ms ± 5 %", for a table."""
        shown = formatted(self.value)
        if self.low == self.high or not self.is_known:
            return shown
        if self.half_width > WIDEST:
            return f"{shown} ± >999 %"
        return f"{shown} ± {text.percent(self.half_width)}"

    def runs_to_tell(self, *bounds: float) -> str:
        """How many runs would keep the interval off the bounds.

        They are repetitions (--benchmark_repetitions). An interval shrinks with the
        square root of their number.
        """
        if not self.is_known:
            return f"{FEWEST_RUNS} runs would give an interval"
        distance = min(abs(self.value - bound) for bound in bounds)
        half = (self.high - self.low) / 2
        if distance * math.sqrt(MANY_RUNS) <= half:
            return f"not even {MANY_RUNS} runs would tell"
        runs = max(FEWEST_RUNS, math.ceil((half / distance) ** 2))
        return f"about {runs} runs would tell"


def exactly(value: float) -> Measured:
    return Measured(value, value, value)


def spread(value: float, half_width: float) -> Measured:
    """A value with a relative half-width; a ratio's interval is one of its log."""
    if not half_width < UNKNOWN:
        return Measured(value, -math.inf, math.inf)
    ends = value * math.exp(-half_width), value * math.exp(half_width)
    return Measured(value, min(ends), max(ends))


def _of_mean(row: Row, count: float) -> float:
    """The relative half-width of a mean of `count` samples of each repetition."""
    cv = row.get("cv")
    if cv is None or count < 2:
        return math.inf
    return float(stdtrit(count - 1, 0.975)) * cv / math.sqrt(count * row.repetitions)


def _of_phase(row: Row, counter: str) -> float:
    """The row's interval, scaled by the ratio of the standard deviations.

    A phase varies no more than the whole, which holds where a row lacks them.
    """
    own, whole = row.get(f"{counter.removesuffix('_us')}_stddev_us"), None
    if own is not None:
        whole = row.get("stddev_us")
    scale = own / whole if own is not None and whole else 1.0
    us = row.get("half_width"), row.get("p50_us")
    if us[0] is None or us[1] is None or not row[counter]:
        return math.inf
    return us[0] * us[1] * scale / row[counter]


def half_width_of(row: Row, counter: str) -> float:
    """Relative, of a counter of the row: 0 if it is exact, infinite if unknown."""
    samples = row.get("samples") or 0
    if counter == "steady_ratio":  # the mean of all samples, the median of half
        return math.hypot(_of_mean(row, samples), 1.2533 * _of_mean(row, samples // 2))
    if counter == "first_ratio":  # one call varies as each other does
        return _of_mean(row, samples) * math.sqrt(samples)
    if counter == "mean_us":
        return _of_mean(row, samples)
    if counter in (*_SINGLE, *_OF_TWO_ROWS) or counter.endswith(_OF_PHASES):
        return math.inf
    if counter in ("p50_us", "op_us", "driven_us", *_SHARES):
        return row.counters.get("half_width", math.inf)
    if counter.endswith("_per_second"):
        return row.counters.get("half_width", math.inf)
    if counter.endswith("_us") and not counter.startswith("predicted_"):
        return _of_phase(row, counter)
    return 0.0


def counter_of(row: Row, counter: str) -> Measured:
    """With the interval that the row itself states, if it does."""
    stem, unit = counter.removesuffix("_us"), "_us" if counter.endswith("_us") else ""
    low, high = (row.get(f"{stem}_{end}{unit}") for end in ("low", "high"))
    if low is not None and high is not None:
        return Measured(row[counter], low, high)
    return spread(row[counter], half_width_of(row, counter))


def time_of(row: Row) -> Measured:
    """The row's time."""
    return spread(row.time_us, row.counters.get("half_width", math.inf))


def over(one: Measured, other: Measured) -> Measured:
    """The ratio of two independent values; unknown to one that is 0."""
    if not other.value:
        return Measured(math.inf, -math.inf, math.inf)
    widths = [_log_half_width(measured) for measured in (one, other)]
    return spread(one.value / other.value, math.hypot(*widths))


def total(parts: Sequence[Measured]) -> Measured:
    """The sum of independent values; of none, 0."""
    value = sum(part.value for part in parts)
    below = math.hypot(*(part.value - part.low for part in parts))
    above = math.hypot(*(part.high - part.value for part in parts))
    return Measured(value, value - below, value + above)


def times(measured: Measured, factor: float) -> Measured:
    """`factor` times the value, which is not 0 times an infinite end."""
    if factor == 0:
        return exactly(0)
    ends = (measured.low * factor, measured.high * factor)
    return Measured(measured.value * factor, min(ends), max(ends))


def minus(one: Measured, other: Measured) -> Measured:
    """The difference of two independent values."""
    return total([one, times(other, -1)])


def ratio_to(one: Measured, other: Measured) -> Measured:
    """The ratio of two independent differences, which may be negative: unlike that of
    over(), its interval is that of the numbers, not of their logarithms."""
    ratio = one.value / other.value
    halves = ((part.high - part.low) / 2 for part in (one, times(other, ratio)))
    half = math.hypot(*halves) / abs(other.value)
    return Measured(ratio, ratio - half, ratio + half)


def _log_half_width(measured: Measured) -> float:
    if measured.low == measured.high:
        return 0.0
    if not measured.is_known or measured.low * measured.high <= 0:
        return math.inf
    return abs(math.log(measured.high / measured.low)) / 2


def differ(one: Measured, other: Measured) -> bool:
    """Whether the intervals allow to say that one is more than the other."""
    return over(one, other).outside(1, 1)


def exponent(points: Sequence[tuple[float, Measured]]) -> Measured:
    """Of the growth, whose interval follows from those of the points.

    The exponent is a weighted sum of their logarithms.
    """
    x = [at for at, _ in points]
    fitted = power_law_exponent(x, [value.value for _, value in points]).exponent

    def moved(chosen: int, end: float) -> float:
        y = [end if i == chosen else v.value for i, (_, v) in enumerate(points)]
        return power_law_exponent(x, y).exponent - fitted

    if all(value.low == value.high for _, value in points):
        return exactly(fitted)
    if not all(value.is_known and value.low > 0 for _, value in points):
        return Measured(fitted, float("-inf"), float("inf"))
    squares = [moved(i, value.high) ** 2 for i, (_, value) in enumerate(points)]
    half = sum(squares) ** 0.5
    return Measured(fitted, fitted - half, fitted + half)
