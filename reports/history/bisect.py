# SPDX-License-Identifier: MIT
"""Finds the commit that changed a row, and is wrong in at most one of 20 searches.

Binary search with measurements that can err: every step gets an equal share of the
error, and compares with the same good commit. As in git bisect, a commit that cannot be
measured is passed over, and what then cannot be distinguished is named together.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

from reports.compare.decision import Verdict
from reports.history.oracle import Answer, CannotMeasure, Question

ERROR = 0.05  # that the commit named is not the one
_LONGER = 3  # times the pairs, where the first answer is open

Oracle = Callable[[Question], Answer]


class Side(StrEnum):
    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"  # it cannot be measured, or was not decided


class NotThere(ValueError):
    """The two ends do not differ. The message says what they are."""


def error_of_step(commits: int) -> float:
    """The comparison of the ends is a step, too."""
    return ERROR / (1 + math.ceil(math.log2(max(2, commits))))


def search(commits: Sequence[str], side: Callable[[str], Side]) -> list[str]:
    """The first bad commit, or those among which it is, oldest first. The last of
    `commits` is bad, and the one before them good; `side` measures one."""
    sides = {commits[-1]: Side.BAD}
    while True:
        most = next(p for p, c in enumerate(commits) if sides.get(c) is Side.BAD)
        good = [p for p in range(most) if sides.get(commits[p]) is Side.GOOD]
        least = good[-1] + 1 if good else 0
        left = [p for p in range(least, most) if commits[p] not in sides]
        if not left:
            return list(commits[least : most + 1])
        middle = (least + most - 1) / 2
        commit = commits[min(left, key=lambda p: (abs(p - middle), p))]
        sides[commit] = side(commit)


def side_of(answer: Answer, metric: str | None) -> Side:
    """By an exact counter, if one is given, else by the time."""
    if metric is not None:
        return Side.BAD if metric in answer.changed else Side.GOOD
    if answer.verdict is Verdict.INCONCLUSIVE:
        return Side.SKIP
    return Side.BAD if answer.verdict is Verdict.REGRESSED else Side.GOOD


def bisect(
    ends: Question, commits: Sequence[str], metric: str | None, oracle: Oracle
) -> list[str]:
    """`commits` are those after the good one up to the bad one. A step's threshold is
    half of what the ends differ by; one that is open is asked once more, for longer.
    Errors: NotThere, CannotMeasure if an end has no build, AbFailed."""
    ends = replace(ends, confidence=1 - error_of_step(len(commits)))
    answer = oracle(ends)
    if side_of(answer, metric) is not Side.BAD:
        changed = ", ".join(answer.changed) or "no exact counter"
        what = f"the ends are {answer.verdict}, x {answer.ratio:.3f}"
        raise NotThere(f"{what}, and {changed} changed")
    if metric is None:
        ends = replace(ends, threshold=math.sqrt(answer.ratio) - 1)

    def side(commit: str) -> Side:
        question = replace(ends, bad=commit)
        longer = replace(question, max_pairs=_LONGER * ends.max_pairs)
        try:
            found = side_of(oracle(question), metric)
            return side_of(oracle(longer), metric) if found is Side.SKIP else found
        except CannotMeasure:
            return Side.SKIP

    return search(commits, side)
