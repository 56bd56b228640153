# SPDX-License-Identifier: MIT
"""From an interval to a verdict: it takes an effect that is sure and that matters."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from reports.compare.intervals import (
    Interval,
    median_interval,
    pairs_for,
    pairs_to_decide,
    prediction_interval,
    spread_of,
)
from reports.results.text import plural


class Verdict(StrEnum):
    REGRESSED = "REGRESSED"
    IMPROVED = "IMPROVED"
    EQUIVALENT = "EQUIVALENT"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class Decision:
    """What is known of new time / base time of one row."""

    verdict: Verdict
    ratio: float  # the best guess
    interval: Interval | None  # None if nothing bounds it
    threshold: float  # the ratio - 1 that matters
    pairs: int  # of processes that the interval comes from
    more_pairs: int | None  # that a verdict would take, if there is none
    basis: str  # where the interval comes from, in words


@dataclass(frozen=True)
class RowNoise:
    """How two processes of the same binary differ in one row, on one machine."""

    floor: float  # ratio - 1 that pairs of it could not be told apart from
    spread: float  # standard deviation of the log ratio of any two processes
    pairs: int  # of processes that it comes from
    reach: float = 0.0  # log ratio that no two processes exceeded (`reaches`)


def verdict_of(interval: Interval | None, threshold: float) -> Verdict:
    """REGRESSED and IMPROVED lie wholly beyond the threshold, EQUIVALENT within."""
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


def _more_pairs(log_ratios: Sequence[float], alpha: float, threshold: float) -> int:
    """At least as many as an interval takes, at best as many as a verdict does."""
    n = len(log_ratios)
    if n < 2:
        return pairs_for(alpha) - n
    distance = abs(abs(statistics.median(log_ratios)) - math.log1p(threshold))
    needed = pairs_to_decide(spread_of(log_ratios), distance, alpha)
    return max(1, needed - n)


def decide_pairs(
    log_ratios: Sequence[float], alpha: float, threshold: float
) -> Decision:
    """Of log(new / base), one per pair of neighbouring processes."""
    interval = median_interval(log_ratios, alpha)
    verdict = verdict_of(interval, threshold)
    undecided = verdict is Verdict.INCONCLUSIVE
    n = len(log_ratios)
    return Decision(
        verdict=verdict,
        ratio=math.exp(statistics.median(log_ratios)),
        interval=interval,
        threshold=threshold,
        pairs=n,
        more_pairs=_more_pairs(log_ratios, alpha, threshold) if undecided else None,
        basis=plural(n, "pair"),
    )


def decide_once(
    log_ratio: float, alpha: float, threshold: float, noise: RowNoise | None
) -> Decision:
    """Of sides that did not alternate: only as sure as a known A/A spread is."""
    interval = None
    basis = "no pairs"
    if noise is not None and noise.pairs >= 2:
        interval = prediction_interval(log_ratio, noise.spread, noise.pairs, alpha)
        # The bell curve does not know the neighbours of this machine.
        if interval.high - log_ratio < noise.reach:
            interval = Interval(log_ratio - noise.reach, log_ratio + noise.reach)
        basis = f"A/A spread of {noise.pairs} pairs"
    verdict = verdict_of(interval, threshold)
    more = pairs_for(alpha) if verdict is Verdict.INCONCLUSIVE else None
    if more and noise is not None:
        distance = abs(abs(log_ratio) - math.log1p(threshold))
        more = max(more, pairs_to_decide(noise.spread, distance, alpha))
    return Decision(verdict, math.exp(log_ratio), interval, threshold, 0, more, basis)
