# SPDX-License-Identifier: MIT
"""Distribution-free intervals of a median, from the order of the values."""

import functools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.special import ndtri

_EXACT_SIGNED_RANK = 50  # values; the normal approximation is wider at a tiny alpha


@functools.cache
def interval_rank(n: int, alpha: float) -> int | None:
    """Returns the rank k of the sign test, or None if n is too small.

    The median of n values lies between the k-th smallest and the k-th largest, except
    with probability 2 P(Bin(n, 1/2) < k). Returns the largest k for which this
    probability is at most `alpha` (Conover, Practical Nonparametric Statistics, 3.2).
    """
    allowed = int(Fraction(alpha) / 2 * 2**n)  # out of the 2^n outcomes of n coins
    k = 0
    outcomes = exactly = 1  # with at most k heads, with k heads
    while outcomes <= allowed:
        exactly = exactly * (n - k) // (k + 1)
        k += 1
        outcomes += exactly
    return k or None


def median_ends(
    values: Sequence[float], alpha: float = 0.05
) -> tuple[float, float] | None:
    """Returns the ends of the interval that contains the median except with probability
    `alpha`, or None if there are too few values; 6 are enough for 0.05."""
    k = interval_rank(len(values), alpha)
    if k is None:
        return None
    ordered = sorted(values)
    return ordered[k - 1], ordered[-k]


@functools.cache
def signed_rank(n: int, alpha: float) -> int | None:
    """Returns the rank k of Wilcoxon's signed-rank test, or None if n is too small.

    If n values are symmetric about a center, it lies between the k-th smallest and the
    k-th largest of their n (n + 1) / 2 pairwise means, except with probability `alpha`
    (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3.3).
    """
    if n > _EXACT_SIGNED_RANK:
        mean, deviation = n * (n + 1) / 4, (n * (n + 1) * (2 * n + 1) / 24) ** 0.5
        return int(mean + deviation * ndtri(alpha / 2))
    # Counts of the 2^n sign choices, by the sum of the positive ranks.
    outcomes = np.ones(1, np.int64)
    for rank in range(1, n + 1):
        outcomes = np.convolve(outcomes, [1, *[0] * (rank - 1), 1])
    allowed = int(Fraction(alpha) / 2 * 2**n)
    return int(np.searchsorted(np.cumsum(outcomes), allowed, "right")) or None


def mean_ranks(values: Sequence[float]) -> np.ndarray:
    """Returns the rank of each value, from 1; equal values share the mean of theirs."""
    _, ties, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: np.ndarray = (np.cumsum(counts) - (counts - 1) / 2)[ties]
    return ranks


def effective(values: Sequence[float]) -> int:
    """Returns the number of independent values that would determine the median as well
    as this time series (fixtures/timing/statistics.h, EffectiveSamples)."""
    n = len(values)
    ranks = mean_ranks(values) - (n + 1) / 2
    squares = float(ranks @ ranks)
    if squares == 0:
        return n
    time, previous = -1.0, np.inf
    for lag in range(0, n - 1, 2):
        pair = float(ranks[lag:] @ ranks[: n - lag])
        pair += float(ranks[lag + 1 :] @ ranks[: n - lag - 1])
        previous = min(previous, pair / squares)
        if previous <= 0:
            break
        time += 2 * previous
    return n if time <= 1 else int(n / time * max(1 - time / n, 0.2))


def series_median_ends(values: Sequence[float]) -> tuple[float, float] | None:
    """Returns the ends of the median's 95 % interval for values in time order, which
    may be correlated; at most the smallest and the largest value."""
    rank = interval_rank(len(values), 0.05)
    if rank is None:
        return None
    independent = effective(values)
    if independent < len(values):
        fewer = interval_rank(independent, 0.05) or 0
        rank = max(1, fewer * len(values) // max(1, independent))
    ordered = sorted(values)
    return ordered[rank - 1], ordered[-rank]


# Fewer than one sample in a hundred from a distribution with one mode has such a gap,
# even if it is skewed (six normal, exponential, uniform, log-normal values).
_GAP = 5.0  # times the wider of the ranges on its two sides
_APART = 0.05  # relative; modes closer to each other do not matter


def two_modes(values: Sequence[float]) -> tuple[float, float] | None:
    """Returns the medians of two groups of at least two values each, if a wide gap
    separates them."""
    ordered = sorted(values)
    for at in range(2, len(ordered) - 1):
        low, high = ordered[:at], ordered[at:]
        gap = high[0] - low[-1]
        widest = max(low[-1] - low[0], high[-1] - high[0])
        if len(ordered) >= 6 and gap > max(_GAP * widest, _APART * low[-1]):
            return float(np.median(low)), float(np.median(high))
    return None
