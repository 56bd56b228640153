# SPDX-License-Identifier: MIT
"""A counter with its 95 % interval."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from operator import truediv

from scipy.special import ndtri, stdtr, stdtrit

from reports.results import text
from reports.results.order_statistics import median_ends, series_median_ends
from reports.results.rows import TIME, NotAResult, Row, ends_of

# Counters that compare rows that cannot take turns: their rank processes differ.
_OF_OTHER_MOMENTS = ("strong_speedup",)
# Ends of the names of counters that describe a spread, and have no interval.
_OF_SPREAD = ("min_us", "max_us", "stddev_us", "cv")
_ROUNDING = 1e-6  # relative; a row has its time and the ends with different digits
_FEWEST_VISITS = 3  # that show what visits differ by
FEWEST_RUNS = 6  # the fewest with a 95 % interval (reports/results)
WIDEST = 0.2  # the widest relative half-width that ± states
MOST_SKEWED = 1.5  # half-widths from the value to the farther end that ± states
MANY_RUNS = 100  # more than are practical
_PROCESSES = "several processes"


@dataclass(frozen=True)
class Series:
    """A value at different times: in each process, or in each turn that a row took with
    others. Two series with the same key were measured together, value by value."""

    key: str
    values: tuple[float, ...]
    visits: tuple[int, ...] = ()  # of turns: the number in each visit
    process_spread: float = 0.0  # of turns: as in Turns

    @property
    def independent(self) -> list[float]:
        """The value of each process, or the median of each visit. Turns in one visit
        depend on each other."""
        if self.key == _PROCESSES:
            return list(self.values)
        steps = accumulate(self.visits, initial=0)
        return [statistics.median(self.values[i:j]) for i, j in pairwise(steps)]

    @property
    def middle(self) -> float:
        """The median; from three visits on the mean of their medians, so that a visit
        with many turns counts no more than others."""
        if len(self.visits) < _FEWEST_VISITS:
            return statistics.median(self.values)
        return statistics.fmean(self.independent)

    @property
    def error(self) -> float:
        """The standard error of the mean of the independent values, of two or more."""
        values = self.independent
        return statistics.stdev(values) / math.sqrt(len(values))

    def map(self, function: Callable[[float], float]) -> "Series":
        return replace(self, values=tuple(function(value) for value in self.values))

    def median_ends(self) -> tuple[float, float] | None:
        """Returns the ends of the 95 % interval of the median, for ratios of turns by
        the rule of CompareTurns (fixtures/timing/visits.h)."""
        ends = series_median_ends(self.values)
        if ends is None or not (self.visits or self.process_spread):
            return ends
        middle = self.middle
        below, above = (abs(math.log(end / middle)) for end in ends)
        if (count := len(self.visits)) >= _FEWEST_VISITS:
            student = float(stdtrit(count - 1, 0.975))
            below = above = student * self.error / middle
        low = middle * math.exp(-math.hypot(below, self.process_spread))
        high = middle * math.exp(math.hypot(above, self.process_spread))
        return low, high


@dataclass(frozen=True)
class Measured:
    """A value and its 95 % interval.

    `sources` state when it was measured: rows that took turns share one, and so do rows
    of several processes. A value with two sources compares different moments.
    """

    value: float
    low: float
    high: float
    series: Series | None = None
    sources: frozenset[str] = frozenset()

    def __truediv__(self, other: "Measured") -> "Measured":
        """Returns the ratio of two values; unknown if the divisor is 0.

        For rows that took turns, or of several processes, it is the middle of the
        ratios of the pairs (Series). Otherwise the values count as independent.
        """
        if not other.value:
            return unknown(math.inf)
        if (paired := _paired(self, other)) is not None:
            return paired
        ratio = self.value / other.value
        if self.low == self.high and other.low == other.high:
            return exactly(ratio)
        if self.low == self.high and self.value > 0 and other.low > 0:
            series = other.series and other.series.map(lambda value: self.value / value)
            low, high = self.value / other.high, self.value / other.low
            return Measured(ratio, low, high, series, other.sources)
        return ratio_to(self, other)

    def __mul__(self, factor: float) -> "Measured":
        """Multiplies by the factor; 0 gives exactly 0 even if an end is infinite."""
        if factor == 0:
            return exactly(0)
        ends = (self.low * factor, self.high * factor)
        series = self.series and self.series.map(lambda value: value * factor)
        value = self.value * factor
        return Measured(value, min(ends), max(ends), series, self.sources)

    def __sub__(self, other: "Measured") -> "Measured":
        """Returns the difference of two values, as `total` adds them."""
        return total([self, other * -1])

    @property
    def is_fair(self) -> bool:
        """Whether all of it was measured at the same time."""
        return len(self.sources) < 2

    @property
    def if_fair(self) -> "Measured":
        """Itself; without its interval if it compares different moments, for which the
        interval is too narrow."""
        return self if self.is_fair else unknown(self.value, self.sources)

    @property
    def half_width(self) -> float:
        """The interval's half-width relative to the value; infinite if unknown."""
        if self.low == self.high:
            return 0.0
        return (self.high - self.low) / 2 / abs(self.value) if self.value else math.inf

    @property
    def is_known(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    def within(self, low: float, high: float) -> bool:
        """Returns whether the whole interval is between these bounds."""
        return low <= self.low and self.high <= high

    def outside(self, low: float, high: float) -> bool:
        """Returns whether the whole interval is below `low` or above `high`."""
        return self.high < low or self.low > high

    def doubt(self, low: float, high: float) -> float:
        """Returns the probability that chance alone puts a value this far on this side
        of the bounds: by Student's t over processes or visits, or without them for
        normal errors that match the interval."""
        if self.low == self.high:
            return 0.0
        middle, down, up, freedom = self._errors()
        if self.value < low:
            return _tail(low - middle, up, freedom)
        if self.value > high:
            return _tail(middle - high, down, freedom)
        sides = (middle - low, down), (high - middle, up)
        return max(_tail(*side, freedom) for side in sides)

    def _errors(self) -> tuple[float, float, float, float]:
        """Returns the middle, its standard error below and above, and their degrees of
        freedom."""
        runs = self.series.independent if self.series else []
        if self.series is None or len(runs) < _FEWEST_VISITS:
            down, up = self.value - self.low, self.high - self.value
            normal = float(ndtri(0.975))
            return self.value, down / normal, up / normal, math.inf
        middle = statistics.fmean(runs)
        between = self.series.process_spread * middle
        error = math.hypot(self.series.error, between)
        return middle, error, error, len(runs) - 1

    @property
    def is_clear(self) -> bool:
        """Whether a ratio shows that one value exceeds the other."""
        return self.is_fair and self.outside(1, 1)

    def text(self, formatted: Callable[[float], str] = text.significant) -> str:
        """Formats e.g. "2.1 ms (1.9 to 2.3 ms)"; without the interval if the value is
        exact, or if rounding hides the interval."""
        shown = formatted(self.value)
        if self.low == self.high:
            return shown
        if not self.is_known:
            return f"{shown} (no interval)"
        low, high = formatted(self.low), formatted(self.high)
        if low == shown == high:
            return shown
        number, _, unit = low.rpartition(" ")
        if number and high.endswith(f" {unit}"):
            low = number
        return f"{shown} ({low} to {high})"

    def plus_minus(self, formatted: Callable[[float], str]) -> str:
        """Formats e.g. "2.1 ms ± 5 %", for a table. A wide or a skewed interval has its
        ends, which a half-width hides, and so has a percentage, in points."""
        shown = formatted(self.value)
        if self.low == self.high or not self.is_known:
            return shown
        longer = max(self.value - self.low, self.high - self.value)
        is_skewed = longer > MOST_SKEWED * (self.high - self.low) / 2
        if shown.endswith("%") or is_skewed or self.half_width > WIDEST:
            return self.text(formatted)
        return f"{shown} ± {text.percent(self.half_width)}"

    def _narrowing(self, bound: float) -> float:
        """Returns how many times narrower the side of the interval towards the bound
        must become to end there; infinite if the value is the bound."""
        side = self.high - self.value if self.value < bound else self.value - self.low
        distance = abs(self.value - bound)
        return side / distance if distance else math.inf

    def runs_to_tell(self, *bounds: float) -> str:
        """States how many runs would make the interval exclude the bounds.

        A run is a process (--processes). The interval shrinks with the square root of
        their number.
        """
        if not self.is_fair:
            why = "not all of it was measured at the same time"
            return f"{why}; --processes={FEWEST_RUNS} may tell"
        if not self.is_known:
            return f"{FEWEST_RUNS} runs would give an interval"
        done = 1
        if _PROCESSES in self.sources:
            done = len(self.series.values) if self.series else FEWEST_RUNS
        factor = max(map(self._narrowing, bounds)) ** 2
        if done * factor >= MANY_RUNS:
            return f"not even {MANY_RUNS} runs would tell"
        if _PROCESSES in self.sources and self.series is None:  # of how many is unknown
            return f"about {max(2, math.ceil(factor))} times as many runs would tell"
        runs = math.ceil(done * factor)
        return f"about {max(FEWEST_RUNS, done + 1, runs)} runs would tell"


def _tail(distance: float, error: float, freedom: float) -> float:
    """Returns the two-sided probability of a distance of so many standard errors."""
    if distance <= 0:
        return 1.0
    return 2 * float(stdtr(freedom, -distance / error)) if error > 0 else 0.0


def exactly(value: float) -> Measured:
    return Measured(value, value, value)


def unknown(value: float, sources: frozenset[str] = frozenset()) -> Measured:
    return Measured(value, -math.inf, math.inf, sources=sources)


def _sources(row: Row) -> frozenset[str]:
    if len(row.each.get(TIME, ())) >= FEWEST_RUNS:
        return frozenset({_PROCESSES})
    return frozenset({row.turns.family if row.turns else row.name})


def _series(row: Row, counter: str) -> Series | None:
    """Returns a counter in each process, or the row's time in each turn."""
    values = row.each.get(counter, ())
    if len(values) >= FEWEST_RUNS:
        return Series(_PROCESSES, values)
    if counter != TIME or row.turns is None:
        return None
    turns = row.turns
    return Series(turns.family, turns.us, turns.visits, turns.process_spread)


def _stated(row: Row, counter: str) -> Measured | None:
    """Returns a counter with the interval that the row states, or None. Errors:
    NotAResult, if the value is not within it."""
    value = row[counter]
    low, high = (row.get(end) for end in ends_of(counter))
    if low is None or high is None:
        return None
    rounding = abs(value) * _ROUNDING
    if not low - rounding <= value <= high + rounding:
        interval = f"{low:g} to {high:g}"
        raise NotAResult(
            f"{counter} of {row.name} is {value:g}; allowed: its interval, {interval}"
        )
    return Measured(value, low, high, _series(row, counter), _sources(row))


def counter_of(row: Row, counter: str) -> Measured:
    """Returns a counter with the interval that the row states, or that follows from
    the time's or from several processes; what is not measured is exact."""
    value = row[counter]
    if (stated := _stated(row, counter)) is not None:
        is_unfair = counter in _OF_OTHER_MOMENTS and not row.each
        others = frozenset({"another row"}) if is_unfair else frozenset()
        return replace(stated, sources=stated.sources | others)
    # A result may not list TIME.
    kind = "time" if counter == TIME else row.table.find(counter).kind
    if kind == "rate":
        time = time_of(row)
        return exactly(1) / time * (value * time.value)
    if kind == "part" and (time := time_of(row)).value:
        return time * (value / time.value)
    is_median = kind not in ("exact", "count") and not counter.endswith(_OF_SPREAD)
    if is_median and (ends := median_ends(row.each.get(counter, ()))):
        low, high = min(ends[0], value), max(ends[1], value)  # it may be a mean
        return Measured(value, low, high, _series(row, counter), _sources(row))
    # The interval of another time, and the other row of a ratio, are unknown.
    is_unknown = kind in ("time", "ratio")
    return unknown(value, _sources(row)) if is_unknown else exactly(value)


def time_of(row: Row) -> Measured:
    """Returns the row's time with its interval; unknown on a null GPU."""
    return counter_of(row, TIME) if TIME in row.counters else unknown(0)


def _joint(*parts: Measured) -> frozenset[str]:
    return frozenset().union(*(part.sources for part in parts))


def _paired(one: Measured, other: Measured) -> Measured | None:
    """Returns the ratio of two values that were measured in pairs, or else None."""
    if one.series is None or other.series is None or one.series.key != other.series.key:
        return None
    values, divisors = one.series.values, other.series.values
    if len(values) != len(divisors) or not all(divisors):
        return None
    ratios = tuple(map(truediv, values, divisors))
    series = replace(one.series, values=ratios)
    ends = series.median_ends()
    if ends is None:
        return None
    return Measured(series.middle, *ends, series, _joint(one, other))


def total(parts: Sequence[Measured]) -> Measured:
    """Returns the sum; 0 without any. Values of the same processes are added process
    by process, others as independent ones."""
    noisy = [part.series for part in parts if part.low != part.high]
    runs = [series for series in noisy if series and series.key == _PROCESSES]
    if len({len(series.values) for series in runs}) == 1 and len(runs) == len(noisy):
        exact = sum(part.value for part in parts if part.low == part.high)
        sums = [sum(run) + exact for run in zip(*(s.values for s in runs), strict=True)]
        series = Series(_PROCESSES, tuple(sums))
        if (ends := series.median_ends()) is not None:
            return Measured(series.middle, *ends, series, _joint(*parts))
    value = sum(part.value for part in parts)
    below = math.hypot(*(part.value - part.low for part in parts))
    above = math.hypot(*(part.high - part.value for part in parts))
    return Measured(value, value - below, value + above, sources=_joint(*parts))


def ratio_to(one: Measured, other: Measured) -> Measured:
    """Returns the ratio of two independent values; unknown if the divisor may be 0. The
    interval has the ratios r for which one - r * other may be 0 (Fieller, 1954)."""
    if other.high < 0:
        return ratio_to(one * -1, other * -1)
    ratio = one.value / other.value if other.value else math.inf
    sources = _joint(one, other)
    if not (one.is_known and other.is_known and other.low > 0):
        return unknown(ratio, sources)
    low, high = _least_ratio(one, other), -_least_ratio(one * -1, other)
    return Measured(ratio, low, high, sources=sources)


def _least_ratio(one: Measured, other: Measured) -> float:
    """Solves one - r * other = its distance to its lower end for the smaller r; `other`
    is above 0."""
    a, b, down = one.value, other.value, one.value - one.low
    error = other.high - b if one.low >= 0 else b - other.low
    root = math.sqrt((a * error) ** 2 + (down * b) ** 2 - (down * error) ** 2)
    if one.low >= 0:
        return (a * a - down * down) / (a * b + root) if a else 0.0
    return (a * b - root) / (b * b - error * error)
