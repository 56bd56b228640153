# SPDX-License-Identifier: MIT
"""The order of turns, with programs that only ask for them."""

import random
from collections.abc import Callable, Iterable

import pytest

from tools.ab_run.duet import TURN_BESIDE_OTHER, Turns
from tools.ab_run.errors import Failed

SAMPLES = 4  # per case


def asks(*cases: str, samples: int = SAMPLES) -> list[str]:
    """Returns a program's questions; a case "-x" has no samples, e.g. because it is
    skipped or runs in other processes."""
    found = []
    for name in cases:
        found.append(f"case {name.removeprefix('-')}")
        found += [] if name.startswith("-") else ["sample"] * samples
    return found


def play(
    base: Iterable[str],
    new: Iterable[str],
    rows: Iterable[str] = ("a", "b"),
    coin: Callable[[], int] = lambda: 0,
) -> list[str]:
    """Returns the question granted in each turn, e.g. "0 case a" or "1 sample".

    A trailing "+" means that the other program holds the case.
    """
    turns = Turns(list(rows), coin)
    questions = [iter(base), iter(new)]
    asked = ["", ""]

    def go_on(number: int) -> None:
        assert turns.give() is None, "one of them still runs"
        question = next(questions[number], None)
        if question is None:
            turns.end(number)
        else:
            asked[number] = question
            turns.hear(number, question)

    go_on(0)
    go_on(1)
    order = []
    while (given := turns.give()) is not None:
        number, answer = given
        mark = "+" if answer == TURN_BESIDE_OTHER else ""
        order.append(f"{number} {asked[number]}{mark}")
        go_on(number)
    assert all(next(rest, None) is None for rest in questions), "one was left waiting"
    return order


def test_both_build_a_case_and_then_take_turns() -> None:
    assert play(asks("a", samples=2), asks("a", samples=2)) == [
        *("0 case a", "1 case a+"),
        *("0 sample", "1 sample", "0 sample", "1 sample"),
    ]


def test_a_coin_decides_who_begins_a_case_and_each_round() -> None:
    tosses = iter([1, 0, 1, 1])
    order = play(asks("a", samples=3), asks("a", samples=3), coin=lambda: next(tosses))
    assert [turn[0] for turn in order] == ["1", "0", *"01", *"10", *"10"]
    assert order[:2] == ["1 case a", "0 case a+"]


def test_a_case_in_other_processes_is_measured_side_after_side() -> None:
    assert play(asks("-a", "-b"), asks("-a", "-b")) == [
        *("0 case a", "1 case a", "0 case b", "1 case b")
    ]


def test_a_case_of_one_side_is_measured_before_the_common_ones() -> None:
    for coin in (0, 1):
        order = play(
            asks("a", "only", "b"),
            asks("a", "b"),
            coin=lambda: coin,  # noqa: B023
        )
        assert f"{1 - coin} case b+" in order
        alone = order.index("0 case only")
        assert order[alone + 1 : alone + 1 + SAMPLES] == ["0 sample"] * SAMPLES


def some_of(names: list[str], chance: random.Random) -> list[str]:
    """Returns the questions of a program with some of the cases, partly skipped."""
    cases = chance.sample(names, chance.randint(1, len(names)))
    return asks(*(chance.choice(["", "-"]) + name for name in cases))


@pytest.mark.parametrize("seed", range(50))
def test_another_order_of_cases_ends_all_the_same(seed: int) -> None:
    names = [f"c{i}" for i in range(6)]
    chance = random.Random(seed)
    base, new = some_of(names, chance), some_of(names, chance)
    order = play(base, new, rows=names, coin=lambda: chance.getrandbits(1))
    assert len(order) == len(base) + len(new)


@pytest.mark.parametrize("question", ["", "case", "case ", "sample", "hello a"])
def test_what_is_no_question(question: str) -> None:
    with pytest.raises(Failed, match="a program asked for a turn by"):
        Turns([], lambda: 0).hear(0, question)
