# SPDX-License-Identifier: MIT
"""Where a series of log times changes its level, and how sure that is.

E-divisive (Matteson and James, JASA 109, 2014) splits a series where the energy
distance of the two sides is largest, and then splits each side. Hunter (Fleming et al.,
ICPE 2023; now Apache Otava) does so in windows, and asks Student's t whether the sides
differ. So it is here, but this t knows that the split was sought among all, and that
neighbouring points resemble each other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from reports.compare.intervals import Interval

Floats = NDArray[np.float64]

LEAST = 3  # points on each side of a change
WINDOW = 50  # points that are looked at together
_MOST_CORRELATION = 0.95
_TINY = 1e-300


@dataclass(frozen=True)
class ChangePoint:
    index: int  # of the first point after it
    interval: Interval  # of the log ratio after / before, 95 %
    p: float  # of a step as large anywhere in a window without any

    @property
    def log_ratio(self) -> float:
        return (self.interval.low + self.interval.high) / 2


def likeliest(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Of each series along the last axis, at the split with the largest t: the sums of
    squares between and within the sides, and the correlation of neighbouring residuals.
    Each takes 2 LEAST points."""
    n = values.shape[-1]
    sizes = np.arange(LEAST, n - LEAST + 1)
    centred = values - values.mean(axis=-1, keepdims=True)
    sums = centred.cumsum(axis=-1)[..., sizes - 1]
    between = sums**2 * n / (sizes * (n - sizes))
    best = between.argmax(axis=-1)[..., None]
    at, total = sizes[best], np.take_along_axis(sums, best, -1)
    is_left = np.arange(n) < at
    residuals = centred - np.where(is_left, total / at, -total / (n - at))
    within = np.maximum((residuals**2).sum(axis=-1), _TINY)
    products = (residuals[..., 1:] * residuals[..., :-1]).sum(axis=-1)
    return between.max(axis=-1), within, products / within


def correlation_of(series: Sequence[Floats]) -> float:
    """How much a point of a machine resembles the one before: the median over its rows,
    since one short series does not say. `series` are rows, or arrays [row, point]."""
    recent = [each[..., -WINDOW:] for each in series if each.shape[-1] > 2 * LEAST]
    # The estimate of a series of n points is 3/n too low.
    found = [np.ravel(likeliest(each)[2] + 3 / each.shape[-1]) for each in recent]
    median = np.median(np.concatenate(found)) if found else 0.0
    return float(np.clip(median, 0, _MOST_CORRELATION))


def _of_one(correlation: float) -> float:
    """As many correlated points are worth an independent one (AR(1))."""
    return (1 + correlation) / (1 - correlation)


def p_of(between: Floats, within: Floats, n: int, correlation: float) -> Floats:
    """The probability of such sums somewhere among n points without a change
    (Bonferroni over the splits)."""
    points = _of_one(correlation)
    t = np.sqrt(between * (n - 2) / (within * points))
    both = 2 * stdtr(max(n / points - 2, 1.0), -t)
    return np.asarray(np.minimum(1.0, both * (n - 2 * LEAST + 1)))


def energy_split(values: Floats) -> tuple[int, int]:
    """The place and the end for which the energy distance of the points before the
    place, and of those from it to the end, is largest."""
    n = len(values)
    distances = np.abs(values[:, None] - values[None, :])
    sums = np.zeros((n + 1, n + 1))  # of these, over rectangles from the first point
    sums[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    at, end = np.mgrid[LEAST : n - LEAST + 1, 2 * LEAST : n + 1]
    left, right = at, np.maximum(end - at, LEAST)
    before = sums[at, at] / 2
    after = sums[end, end] / 2 - sums[at, end] + before
    across = sums[at, end] - sums[at, at]
    found = across - right * before / (left - 1) - left * after / (right - 1)
    found = np.where(end - at >= LEAST, found / (left + right), -np.inf)
    return int(at.flat[found.argmax()]), int(end.flat[found.argmax()])


def _change(
    values: Floats, start: int, at: int, end: int, correlation: float
) -> ChangePoint:
    """The change at a given place, by the points on both sides of it."""
    left, right = values[start:at], values[at:end]
    step = float(right.mean() - left.mean())
    n, share = end - start, 1 / len(left) + 1 / len(right)
    within = float(left.var() * len(left) + right.var() * len(right)) + _TINY
    p = p_of(np.array(step**2 / share), np.array(within), n, correlation)
    points = _of_one(correlation)
    margin = float(stdtrit(max(n / points - 2, 1.0), 0.975))
    margin *= math.sqrt(within / (n - 2) * share * points)
    return ChangePoint(at, Interval(step - margin, step + margin), float(p))


def _split(
    values: Floats, start: int, end: int, level: float, correlation: float
) -> list[int]:
    """The changes between two points, each with a p below the level. A step that does
    not last to the end was sought among all ends, too."""
    if end - start < 2 * LEAST:
        return []
    at, last = (start + place for place in energy_split(values[start:end]))
    tries = 1 if last == end else end - start
    if _change(values, start, at, last, correlation).p * tries >= level:
        return []
    before = _split(values, start, at, level, correlation)
    return [*before, at, *_split(values, at, end, level, correlation)]


def change_points(
    values: Floats, level: float, correlation: float = 0.0
) -> list[ChangePoint]:
    """The changes of a series, in order. `level`: the probability of finding any in a
    window of WINDOW points without one."""
    found: set[int] = set()
    start, end = 0, 0
    while end < len(values):
        end = min(start + WINDOW, len(values))
        inside = _split(values, start, end, level, correlation)
        # The next window sees more of what is near this one's end.
        last = end if end == len(values) else end - 2 * LEAST
        inside = [at for at in inside if at <= last]
        found.update(inside)
        start = max([start + WINDOW // 2, *inside])
    ends = [0, *sorted(found), len(values)]
    return [
        _change(
            values, max(first, at - WINDOW), at, min(last, at + WINDOW), correlation
        )
        for first, at, last in zip(ends, ends[1:], ends[2:], strict=False)
    ]
