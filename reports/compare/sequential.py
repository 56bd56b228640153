# SPDX-License-Identifier: MIT
"""When to look at growing evidence, and what each look may cost.

Whoever looks after every pair and stops at the first verdict will be wrong more
often than one look promises. Here the looks are planned, and share the error:
half of it goes to the first, half of the rest to the next, and what is left to
the last (alpha spending; Lan and DeMets, Biometrika 70, 1983, in its simplest
form, the union bound).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from reports.compare.decision import Decision, Verdict, decide_pairs
from reports.compare.intervals import pairs_for

FEWEST_PAIRS = 6
GROWTH = 1.5  # of the pairs, from one look to the next


@dataclass(frozen=True)
class Look:
    pairs: int
    alpha: float  # two-sided chance of an error, of one row at this look


@dataclass(frozen=True)
class Plan:
    rows: int  # that share the error between them (Bonferroni)
    max_pairs: int
    alpha: float = 0.05  # chance of any wrong interval in the whole table

    def looks(self) -> list[Look]:
        """Those before the last one, which is whenever the run ends."""
        looks: list[Look] = []
        error = self.alpha / self.rows
        pairs = max(FEWEST_PAIRS, pairs_for(error / 2))
        while pairs < self.max_pairs:
            error /= 2
            looks.append(Look(pairs, error))
            # Half the error takes one pair more to have an interval at all.
            pairs = max(math.ceil(GROWTH * pairs), pairs_for(error / 2))
        return looks

    def rest(self, looks_taken: int) -> float:
        """The error that is left after so many looks."""
        return self.alpha / self.rows / 2**looks_taken


def _wait(
    log_ratios: Sequence[float], last: Decision | None, plan: Plan, threshold: float
) -> Decision:
    """What is known between two looks: what the last one said, if there was one."""
    n = len(log_ratios)
    if last is not None:
        return replace(last, more_pairs=max(1, last.pairs + (last.more_pairs or 1) - n))
    first = min((look.pairs for look in plan.looks()), default=plan.max_pairs)
    now = decide_pairs(log_ratios, plan.rest(1), threshold)
    return replace(
        now,
        verdict=Verdict.INCONCLUSIVE,
        interval=None,
        more_pairs=max(1, first - n),
    )


def decide_in_sequence(
    log_ratios: Sequence[float], plan: Plan, threshold: float, ended: bool
) -> Decision:
    """The decision of the first look that comes to one; else that of the last.

    `log_ratios` are those of the pairs so far, in order, at least one. A run that
    `ended`, for a reason that does not depend on which side was faster, takes a
    last look. One that goes on waits for its next look: it may be asked after every
    pair, and a verdict in between would cost an error that nobody has planned.
    """
    last: Decision | None = None
    taken = 0
    for look in plan.looks():
        if look.pairs > len(log_ratios):
            break
        last = decide_pairs(log_ratios[: look.pairs], look.alpha, threshold)
        if last.verdict is not Verdict.INCONCLUSIVE:
            return last
        taken += 1
    if ended:
        return decide_pairs(log_ratios, plan.rest(taken), threshold)
    return _wait(log_ratios, last, plan, threshold)
