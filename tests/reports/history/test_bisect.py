# SPDX-License-Identifier: MIT
"""The first bad commit is named, and only it if every commit can be measured."""

from collections.abc import Callable, Sequence

import pytest

from reports.compare.decision import Verdict
from reports.compare.exact import Change, MetricChange
from reports.history.bisect import ERROR, bisect, error_of_step, search
from reports.history.oracle import Answer, CannotMeasure, Question
from reports.results.refused import Refused

COMMITS = [f"{number:040x}" for number in range(1, 17)]
ENDS = Question("e/row", "0" * 40, COMMITS[-1], [])


@pytest.mark.parametrize(
    ("first", "skipped", "found"),
    [
        *((first, [], [first]) for first in range(16)),
        (8, [3, 4, 7], [7, 8]),  # 7 precedes it
        (8, [8], [8, 9]),
        (8, [2, 12], [8]),
        (15, range(15), range(16)),
        (0, [0], [0, 1]),
    ],
)
def test_the_first_bad_commit_is_found_in_four_steps_unless_some_have_no_build(
    first: int, skipped: Sequence[int], found: Sequence[int]
) -> None:
    asked: list[int] = []

    def is_bad(commit: str) -> bool | None:
        asked.append(COMMITS.index(commit))
        return None if asked[-1] in skipped else asked[-1] >= first

    assert search(COMMITS, is_bad) == [COMMITS[place] for place in found]
    assert skipped or len(asked) <= 4


def oracle(
    first: int, asked: list[Question], slower: float = 1.05
) -> Callable[[Question], Answer]:
    """Slower since `first`; 4 has no build, 5 stays undecided."""

    def ask(question: Question) -> Answer:
        asked.append(question)
        place = COMMITS.index(question.bad)
        if place == 4:
            raise CannotMeasure("no build")
        is_bad = place >= first
        verdict = Verdict.REGRESSED if is_bad else Verdict.EQUIVALENT
        if place == 5:
            verdict = Verdict.INCONCLUSIVE
        change = MetricChange("peak_bytes", "B", 1, 2, Change.WORSE)
        changes, ends = [change] * is_bad, (question.good, question.bad)
        ratio = slower if is_bad else 1.0
        return Answer(question.row, verdict, ratio, None, 12, changes, *ends)

    return ask


@pytest.mark.parametrize("metric", [None, "peak_bytes"])
def test_steps_share_the_error_and_halve_the_difference(metric: str | None) -> None:
    asked: list[Question] = []
    found = COMMITS[4:7] if metric is None else COMMITS[6:7]
    assert bisect(ENDS, COMMITS, metric, oracle(6, asked)) == found
    assert len({question.bad for question in asked}) == len(asked), "asked once each"
    assert {question.good for question in asked} == {ENDS.good}
    # A commit without a build is no answer: its share is the next commit's.
    tried = [COMMITS.index(question.bad) for question in asked]
    steps = [n - (4 in tried[:n]) for n in range(len(tried))]
    errors = [error_of_step(16, step) for step in range(99)]
    assert [question.confidence for question in asked] == [1 - errors[s] for s in steps]
    assert errors[:7] == [ERROR / 6] * 5 + [ERROR / 12, ERROR / 24]
    assert sum(errors) <= ERROR
    thresholds = {round(question.threshold, 4) for question in asked[1:]}
    assert thresholds == {0.0247 if metric is None else 0.5}


def test_a_step_s_threshold_is_one_that_tools_ab_takes() -> None:
    asked: list[Question] = []
    bisect(ENDS, COMMITS, None, oracle(6, asked, slower=10.0))
    assert {question.threshold for question in asked[1:]} == {0.5}


def test_ends_that_do_not_differ_are_said() -> None:
    with pytest.raises(Refused, match=r"EQUIVALENT, .* no exact counter"):
        bisect(ENDS, COMMITS, None, oracle(99, []))
    with pytest.raises(Refused, match="and peak_bytes changed"):
        bisect(ENDS, COMMITS, "flops", oracle(3, []))
