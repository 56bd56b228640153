# SPDX-License-Identifier: MIT
"""Finds the commit that changed a row, with an error of at most 5 % per search.

Binary search with uncertain measurements: the steps share the error, and compare with
the same good commit. As in git bisect, a commit that cannot be measured is skipped, and
commits that then cannot be distinguished are all reported.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from reports.history.commits import Refused
from reports.history.oracle import CannotMeasure, Oracle, Question

ERROR = 0.05  # the probability that the reported commit is wrong


def shares(commits: int) -> Iterator[float]:
    """Yields the share of the error of each step; comparing the ends is the first one.
    The steps of a search that skips no commit have equal shares, others halve the rest.
    """
    steps = 1 + math.ceil(math.log2(max(2, commits)))
    for further in itertools.count(1 - steps):
        yield ERROR / (steps + 1) / 2 ** max(0, further)


def search(commits: Sequence[str], is_bad: Callable[[str], bool | None]) -> list[str]:
    """Returns the first bad commit, or the candidates for it, oldest first. The last of
    `commits` is bad, and the one before the first is good. `is_bad` measures one; None:
    it cannot be measured, or is undecided."""
    left, skipped = list(commits), set[str]()
    while places := [p for p, commit in enumerate(left[:-1]) if commit not in skipped]:
        middle = (len(left) - 2) / 2
        at = min(places, key=lambda p: (abs(p - middle), p))
        bad = is_bad(left[at])
        if bad is None:
            skipped.add(left[at])
        else:
            left = left[: at + 1] if bad else left[at + 1 :]
    return left


def bisect(
    ends: Question, commits: Sequence[str], metric: str | None, oracle: Oracle
) -> list[str]:
    """Searches `commits`, from after the good one up to the bad one, for a change of an
    exact counter, if one is given, or else of the time. A step's threshold is half of
    the difference of the ends. Errors: Refused, also if the ends do not differ or
    cannot be measured."""
    errors = shares(len(commits))
    ends = replace(ends, confidence=1 - next(errors))
    answer = oracle(ends)
    if not answer.is_bad(metric):
        changed = ", ".join(answer.changed) or "no exact counter"
        what = f"the ends are {answer.verdict}, x {answer.ratio:.3f}"
        raise Refused(f"{what}, and {changed} changed")
    if metric is None:
        ends = replace(ends, threshold=math.sqrt(answer.ratio) - 1)

    def is_bad(commit: str) -> bool | None:
        question = replace(ends, bad=commit, confidence=1 - next(errors))
        try:
            return oracle(question).is_bad(metric)
        except CannotMeasure:
            return None

    return search(commits, is_bad)
