# SPDX-License-Identifier: MIT
"""Finds changes of level in a series of log times, with p values.

E-divisive (Matteson and James, JASA 109, 2014) splits a series where the energy
distance of the two sides is largest, and then splits each side. Hunter (Fleming et al.,
ICPE 2023; now Apache Otava) does so in windows, and tests with Student's t whether the
sides differ. We do the same, but our t test accounts for the search over all splits,
for the correlation of neighboring points and for points at which the machine was
noisier.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from reports.compare.intervals import Floats, Interval

LEAST = 3  # the fewest points on each side of a change
WINDOW = 50  # points that are analyzed together
_MOST_CORRELATION = 0.95
_TINY = 1e-300


@dataclass(frozen=True)
class ChangePoint:
    index: int  # the first point after it
    interval: Interval  # 95 %, of the log ratio after / before
    p: float  # probability of so large a step in a window without a change

    @property
    def log_ratio(self) -> float:
        return (self.interval.low + self.interval.high) / 2

    @property
    def least(self) -> float:
        """The log ratio in the interval that is closest to 0."""
        return max(self.interval.low, 0.0) + min(self.interval.high, 0.0)


def likeliest(values: Floats) -> tuple[Floats, Floats]:
    """Returns, for each series along the last axis at the split with the largest t,
    Student's t of independent points, and the correlation of neighboring residuals. A
    series needs at least 2 LEAST points."""
    n = values.shape[-1]
    sizes = np.arange(LEAST, n - LEAST + 1)
    centered = values - values.mean(axis=-1, keepdims=True)
    sums = centered.cumsum(axis=-1)[..., sizes - 1]
    between = sums**2 * n / (sizes * (n - sizes))
    best = between.argmax(axis=-1)[..., None]
    at, total = sizes[best], np.take_along_axis(sums, best, -1)
    is_left = np.arange(n) < at
    residuals = centered - np.where(is_left, total / at, -total / (n - at))
    within = np.maximum((residuals**2).sum(axis=-1), _TINY)
    products = (residuals[..., 1:] * residuals[..., :-1]).sum(axis=-1)
    return np.sqrt(between.max(axis=-1) * (n - 2) / within), products / within


def correlation_of(series: Sequence[Floats]) -> float:
    """Estimates the correlation of a machine's successive points by the median over its
    rows, since one row is too short. `series` are rows, or arrays [row, point]."""
    recent = [each[..., -WINDOW:] for each in series if each.shape[-1] >= 2 * LEAST]
    # The estimate from a series of n points is 3/n too low.
    found = [np.ravel(likeliest(each)[1] + 3 / each.shape[-1]) for each in recent]
    median = np.median(np.concatenate(found)) if found else 0.0
    return float(np.clip(median, 0, _MOST_CORRELATION))


def _worth(n: int, correlation: float) -> tuple[float, float]:
    """Returns how many points are worth one independent point (AR(1)), and the degrees
    of freedom of n points around two levels."""
    points = (1 + correlation) / (1 - correlation)
    return points, max(n / points - 2, 1.0)


def p_of(t: Floats, n: int, correlation: float) -> Floats:
    """Returns the probability of such a t, for independent points, at any split of
    n points without a change (Bonferroni over the splits)."""
    points, freedom = _worth(n, correlation)
    both = 2 * stdtr(freedom, -np.abs(t) / math.sqrt(points))
    return np.asarray(np.minimum(1.0, both * (n - 2 * LEAST + 1)))


def energy_split(values: Floats) -> tuple[int, int]:
    """Returns the place and the end with the largest energy distance between the points
    before the place and the points from the place to the end."""
    n = len(values)
    distances = np.abs(values[:, None] - values[None, :])
    sums = np.zeros((n + 1, n + 1))  # prefix sums of the distances over rectangles
    sums[1:, 1:] = distances.cumsum(axis=0).cumsum(axis=1)
    at, end = np.mgrid[LEAST : n - LEAST + 1, 2 * LEAST : n + 1]
    left, right = at, np.maximum(end - at, LEAST)
    before = sums[at, at] / 2
    after = sums[end, end] / 2 - sums[at, end] + before
    across = sums[at, end] - sums[at, at]
    found = across - right * before / (left - 1) - left * after / (right - 1)
    found = np.where(end - at >= LEAST, found / (left + right), -np.inf)
    return int(at.flat[found.argmax()]), int(end.flat[found.argmax()])


@dataclass(frozen=True)
class _Points:
    values: Floats
    noise: Floats  # the points' standard deviations, in any unit
    correlation: float  # of neighbors


def _change(points: _Points, start: int, at: int, end: int) -> ChangePoint:
    """Estimates the change at a given place from the points on both sides of it."""
    n, means, residuals, variance = end - start, [], [], 0.0
    for side in (slice(start, at), slice(at, end)):
        values, noise = points.values[side], points.noise[side]
        means.append(float(values.mean()))
        residuals.extend(((values - values.mean()) / noise).tolist())
        variance += float((noise**2).mean()) / len(values)
    step = means[1] - means[0]
    within = sum(residual**2 for residual in residuals) + _TINY
    error = math.sqrt(within / (n - 2) * variance)
    p = float(p_of(np.array(step / error), n, points.correlation))
    of_one, freedom = _worth(n, points.correlation)
    margin = float(stdtrit(freedom, 0.975)) * error * math.sqrt(of_one)
    return ChangePoint(at, Interval(step - margin, step + margin), p)


def _split(points: _Points, start: int, end: int, level: float) -> list[int]:
    """Returns the changes between two points, each with a p below the level. For a step
    that ends before the last point, p also accounts for the search over all ends."""
    if end - start < 2 * LEAST:
        return []
    at, last = (start + place for place in energy_split(points.values[start:end]))
    tries = 1 if last == end else end - start
    if _change(points, start, at, last).p * tries >= level:
        return []
    return [*_split(points, start, at, level), at, *_split(points, at, end, level)]


def _settled(points: _Points, found: list[int], level: float) -> list[ChangePoint]:
    """Estimates each change from the points up to the changes next to it. Drops the
    least significant one until each has a p below the level."""
    ends = [0, *found, len(points.values)]
    changes = [
        _change(points, max(first, at - WINDOW), at, min(last, at + WINDOW))
        for first, at, last in zip(ends, ends[1:], ends[2:], strict=False)
    ]
    least = max(changes, key=lambda change: change.p, default=None)
    if least is None or least.p < level:
        return changes
    return _settled(points, [at for at in found if at != least.index], level)


def change_points(
    values: Floats, level: float, correlation: float = 0.0, noise: Floats | None = None
) -> list[ChangePoint]:
    """Returns the changes of a series, in order. `level`: the probability of finding a
    change in a window of WINDOW points without one. `noise`: each point's, relative to
    others; by default they are alike."""
    noise = np.ones(len(values)) if noise is None else noise
    points = _Points(values, noise, correlation)
    found: set[int] = set()
    start, end = 0, 0
    while end < len(values):
        end = min(start + WINDOW, len(values))
        inside = _split(points, start, end, level)
        # The next window has more of the points around this window's end.
        last = end if end == len(values) else end - 2 * LEAST
        inside = [at for at in inside if at <= last]
        found.update(inside)
        # The newest window is a whole one, unless a change begins it.
        start = max([min(start + WINDOW // 2, len(values) - WINDOW), *inside])
    return _settled(points, sorted(found), level)
