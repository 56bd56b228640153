# SPDX-License-Identifier: MIT
"""Finds the commit that changed a row, with an error of at most 5 % per search.

Binary search with uncertain measurements: every step gets an equal share of the error,
and compares with the same good commit. As in git bisect, a commit that cannot be
measured is skipped, and commits that then cannot be distinguished are all reported.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

from reports.compare.decision import Verdict
from reports.history.commits import Refused
from reports.history.oracle import Answer, CannotMeasure, Question

ERROR = 0.05  # the probability that the reported commit is wrong
_LONGER = 3  # factor for the number of pairs if the first answer is inconclusive

Oracle = Callable[[Question], Answer]


class Side(StrEnum):
    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"  # it cannot be measured, or is undecided


def error_of_step(commits: int) -> float:
    """Returns a step's share of the error; comparing the ends is a step, too."""
    return ERROR / (1 + math.ceil(math.log2(max(2, commits))))


def search(commits: Sequence[str], side: Callable[[str], Side]) -> list[str]:
    """Returns the first bad commit, or the candidates for it, oldest first. The last of
    `commits` is bad, and the one before the first is good; `side` measures one."""
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
    """Classifies by an exact counter, if one is given, or else by the time."""
    if metric is not None:
        return Side.BAD if metric in answer.changed else Side.GOOD
    if answer.verdict is Verdict.INCONCLUSIVE:
        return Side.SKIP
    return Side.BAD if answer.verdict is Verdict.REGRESSED else Side.GOOD


def bisect(
    ends: Question, commits: Sequence[str], metric: str | None, oracle: Oracle
) -> list[str]:
    """Searches `commits`, from after the good one up to the bad one. A step's threshold
    is half of the difference of the ends; an undecided step is repeated once with more
    pairs. Errors: Refused, also if the ends do not differ or cannot be measured."""
    ends = replace(ends, confidence=1 - error_of_step(len(commits)))
    answer = oracle(ends)
    if side_of(answer, metric) is not Side.BAD:
        changed = ", ".join(answer.changed) or "no exact counter"
        what = f"the ends are {answer.verdict}, x {answer.ratio:.3f}"
        raise Refused(f"{what}, and {changed} changed")
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
