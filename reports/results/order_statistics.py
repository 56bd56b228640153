# SPDX-License-Identifier: MIT
"""What the order of values says about their median, whatever their distribution."""

import functools
from collections.abc import Sequence
from fractions import Fraction


@functools.cache
def interval_rank(n: int, alpha: float) -> int | None:
    """The rank k of the sign test, or None if n is too small.

    The median of n values lies between the k-th smallest and the k-th largest, except
    with probability 2 P(Bin(n, 1/2) < k). This is the largest k for which that
    probability is at most `alpha` (Conover, Practical Nonparametric Statistics, 3.2).
    """
    allowed = int(Fraction(alpha) / 2 * 2**n)  # of the 2^n outcomes of n coins
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
    """The ends of the interval that holds the median except with probability `alpha`,
    or None if there are too few values; 6 are enough for 0.05."""
    k = interval_rank(len(values), alpha)
    if k is None:
        return None
    ordered = sorted(values)
    return ordered[k - 1], ordered[-k]
