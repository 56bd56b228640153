# SPDX-License-Identifier: MIT
"""Turns an interval into a verdict: an effect must be certain and large enough."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from reports.compare.intervals import (
    Interval,
    Pair,
    pair_interval,
    pairs_for,
    pairs_to_decide,
    prediction_interval,
)
from reports.results.text import plural

Amount = Annotated[float, Meta(ge=0)]
FEWEST_AA_PAIRS = 20  # of an A/A spread; fewer may lack this machine's outliers


class Verdict(StrEnum):
    REGRESSED = "REGRESSED"
    IMPROVED = "IMPROVED"
    EQUIVALENT = "EQUIVALENT"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class Decision:
    """The estimate of new time / base time of one row, and the verdict on it."""

    verdict: Verdict
    ratio: float  # the point estimate
    interval: Interval | None  # None if there are too few pairs
    threshold: float  # the smallest ratio - 1 that matters
    pairs: int  # of processes, on which the interval is based
    more_pairs: int | None  # estimated number until a verdict; None with a verdict
    basis: str  # the source of the interval, for the reader


@dataclass(frozen=True)
class RowNoise:
    """How far two processes of the same binary differ in one row, on one machine."""

    floor: Amount  # the smallest ratio - 1 that can be distinguished from noise
    spread: Amount  # standard deviation of the log ratio of two processes
    pairs: int  # of processes, on which these numbers are based
    reach: Amount  # bound on the log ratio of two processes (`max_spread`)


def verdict_of(interval: Interval | None, threshold: float) -> Verdict:
    """Returns REGRESSED or IMPROVED wholly beyond the threshold, EQUIVALENT within."""
    limit = math.log1p(threshold)
    if interval is None:
        return Verdict.INCONCLUSIVE
    if interval.low > limit:
        return Verdict.REGRESSED
    if interval.high < -limit:
        return Verdict.IMPROVED
    if -limit <= interval.low and interval.high <= limit:
        return Verdict.EQUIVALENT
    return Verdict.INCONCLUSIVE


def pairs_needed(pairs: Sequence[Pair], alpha: float, threshold: float) -> int:
    """Estimates how many pairs a verdict needs; from fewer than 2, an interval."""
    n = len(pairs)
    if n < 2:
        return pairs_for(alpha)
    log_ratios = [pair.log_ratio for pair in pairs]
    distance = abs(abs(statistics.median(log_ratios)) - math.log1p(threshold))
    needed = pairs_to_decide(statistics.stdev(log_ratios), distance, alpha)
    return max(n + 1, needed)


def decide_pairs(pairs: Sequence[Pair], alpha: float, threshold: float) -> Decision:
    """Decides from the pairs of neighboring processes, at least one."""
    interval = pair_interval(pairs, alpha)
    verdict = verdict_of(interval, threshold)
    undecided = verdict is Verdict.INCONCLUSIVE
    n = len(pairs)
    middle = statistics.median(pair.log_ratio for pair in pairs)
    if interval is not None:
        middle = min(max(middle, interval.low), interval.high)
    return Decision(
        verdict=verdict,
        ratio=math.exp(middle),
        interval=interval,
        threshold=threshold,
        pairs=n,
        more_pairs=pairs_needed(pairs, alpha, threshold) - n if undecided else None,
        basis=plural(n, "pair"),
    )


def decide_once(
    log_ratio: float, alpha: float, threshold: float, noise: RowNoise | None
) -> Decision:
    """Decides from one log ratio of unpaired processes and the A/A spread, if known."""
    interval = None
    basis = "no pairs"
    if noise is not None and noise.pairs < FEWEST_AA_PAIRS:
        basis = f"A/A spread of {noise.pairs} pairs: {FEWEST_AA_PAIRS} needed"
    elif noise is not None:
        interval = prediction_interval(log_ratio, noise.spread, noise.pairs, alpha)
        # This machine's outliers may exceed the tails of a normal distribution.
        if interval.high - log_ratio < noise.reach:
            interval = Interval(log_ratio - noise.reach, log_ratio + noise.reach)
        basis = f"A/A spread of {noise.pairs} pairs"
    verdict = verdict_of(interval, threshold)
    more = pairs_for(alpha) if verdict is Verdict.INCONCLUSIVE else None
    if more and noise is not None:
        distance = abs(abs(log_ratio) - math.log1p(threshold))
        more = max(more, pairs_to_decide(noise.spread, distance, alpha))
    return Decision(verdict, math.exp(log_ratio), interval, threshold, 0, more, basis)
