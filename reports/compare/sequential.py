# SPDX-License-Identifier: MIT
"""Planned looks at growing data, and the error that each look may spend.

Testing after every pair and stopping at the first verdict is wrong more often than one
test. Here the looks are planned and share the error: half of it goes to the first, half
of the rest to the next, the remainder to the last (alpha spending; Lan and DeMets,
Biometrika 70, 1983, in its simplest form, the union bound).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reports.compare.decision import (
    Decision,
    RowNoise,
    Verdict,
    decide_once,
    decide_pairs,
    pairs_needed,
)
from reports.compare.intervals import MANY_PAIRS, Pair, pairs_for

FEWEST_PAIRS = 6
GROWTH = 1.5  # factor by which the pairs grow from one look to the next


@dataclass(frozen=True)
class Look:
    pairs: int
    alpha: float  # two-sided error probability of one row at this look


@dataclass(frozen=True)
class Plan:
    rows: int  # the number of rows that share the error (Bonferroni)
    max_pairs: int
    alpha: float = 0.05  # probability of any wrong interval in the whole table
    stops_early: bool = True  # False: the only look is at the end

    def looks(self) -> list[Look]:
        """Returns all looks except the last one, which happens when the run ends."""
        looks: list[Look] = []
        error = self.alpha / self.rows
        pairs = max(FEWEST_PAIRS, pairs_for(error / 2))
        while self.stops_early and pairs < self.max_pairs:
            error /= 2
            looks.append(Look(pairs, error))
            # Halving the error requires one more pair for an interval to exist.
            pairs = max(math.ceil(GROWTH * pairs), pairs_for(error / 2))
        return looks

    def taken(self, pairs: int) -> list[Look]:
        """Returns the looks that a run with this number of pairs has taken."""
        return [look for look in self.looks() if look.pairs <= pairs]

    def until_next_look(self, pairs: int) -> int:
        """Returns the number of pairs until the next look; the last is at the end."""
        looks = (look.pairs for look in self.looks() if look.pairs > pairs)
        return max(1, next(looks, self.max_pairs) - pairs)

    def rest(self, looks_taken: int) -> float:
        """Returns the error that remains after this number of looks."""
        return self.alpha / self.rows * 0.5**looks_taken


def _until_verdict(pairs: Sequence[Pair], plan: Plan, threshold: float) -> int:
    """Estimates after how many pairs a later look decides, each with its own error."""
    looks = plan.looks()
    for look in looks:
        if look.pairs > len(pairs) and (
            pairs_needed(pairs, look.alpha, threshold) <= look.pairs
        ):
            return look.pairs
    return pairs_needed(pairs, plan.rest(len(looks)), threshold)


def decide_in_sequence(
    pairs: Sequence[Pair], plan: Plan, threshold: float, ended: bool
) -> Decision:
    """Returns the decision of the first look with a verdict, or else of the latest.

    `pairs` are the pairs so far, in order, at least one. A run that `ended` takes a
    last look; the reason for its end must not depend on which side was faster. Any
    other run waits for its next look: it calls this after every pair, and a verdict
    between two looks would spend an unplanned error.
    """
    n = len(pairs)
    last: Decision | None = None
    taken = plan.taken(n)
    for look in taken:
        last = decide_pairs(pairs[: look.pairs], look.alpha, threshold)
        if last.verdict is not Verdict.INCONCLUSIVE:
            return last
    if ended:
        return decide_pairs(pairs, plan.rest(len(taken)), threshold)
    if last is not None:
        needed = _until_verdict(pairs[: last.pairs], plan, threshold)
        more = needed if needed >= MANY_PAIRS else max(1, needed - n)
        return replace(last, more_pairs=more)
    now = decide_pairs(pairs, plan.rest(1), threshold)
    more = plan.until_next_look(n)
    return replace(now, verdict=Verdict.INCONCLUSIVE, interval=None, more_pairs=more)


def decide_from_files(
    pairs: Sequence[Pair],
    log_ratio: float,
    plan: Plan,
    threshold: float,
    noise: RowNoise | None,
) -> Decision:
    """Decides from pairs; from one file a side, or without pairs, from the log ratio of
    the sides' medians and the A/A spread, if known.

    A user adds the pairs that an inconclusive row needs, and compares again. Such
    comparisons are looks at growing data, so they follow the plan. With an A/A spread,
    half of the error is for the comparison before the first look, if noise is normal.
    """
    if noise is not None:
        plan = replace(plan, alpha=plan.alpha / 2)
    if len(pairs) > 1:
        return decide_in_sequence(pairs, plan, threshold, ended=False)
    return decide_once(log_ratio, plan.rest(0), threshold, noise)
