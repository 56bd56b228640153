# SPDX-License-Identifier: MIT
"""Finds the commit that changed a row, with an error of at most 5 % per search.

Binary search with uncertain measurements: the steps share the error, and compare with
the same good commit. As in git bisect, a commit that cannot be measured is skipped, and
commits that then cannot be distinguished are all reported.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from reports.history.oracle import CannotMeasure, Oracle, Question
from reports.results.refused import Refused

ERROR = 0.05  # the probability that the reported commit is wrong


def error_of_step(commits: int, step: int) -> float:
    """Returns the share of the error of a step; comparing the ends is step 0. The steps
    that a search needs if none is undecided have equal shares, further ones halve the
    rest."""
    steps = 1 + math.ceil(math.log2(max(2, commits)))
    return ERROR / (steps + 1) / 2.0 ** max(0, step + 1 - steps)


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
    the difference of the ends, at most 50 %. Errors: Refused, also if the ends do not
    differ or cannot be measured."""
    if metric is not None:
        ends = replace(ends, threshold=0.5)  # so that few pairs decide on the time
    answer = oracle(replace(ends, confidence=1 - error_of_step(len(commits), 0)))
    if not answer.is_bad(metric):
        changed = ", ".join(answer.changed) or "no exact counter"
        what = f"the ends are {answer.verdict}, x {answer.ratio:.3f}"
        raise Refused(f"{what}, and {changed} changed")
    if metric is None:
        ends = replace(ends, threshold=min(math.sqrt(answer.ratio) - 1, 0.5))

    answers = [answer]

    def is_bad(commit: str) -> bool | None:
        error = error_of_step(len(commits), len(answers))
        try:
            answers.append(oracle(replace(ends, bad=commit, confidence=1 - error)))
        except CannotMeasure:  # says nothing that could be wrong
            return None
        return answers[-1].is_bad(metric)

    return search(commits, is_bad)
