# SPDX-License-Identifier: MIT
"""tools/ab with two programs at once, which take turns and measure nothing."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from fake_program import SHORT, Pairs
from reports.compare.ab_decisions import known_pairs
from reports.compare.ab_times import Times, pair_of, turns_of
from reports.compare.intervals import Pair


def alternates(log: Path, file: str) -> bool:
    """Returns whether this process and the next alternate in rounds."""
    pair = {file, f"{int(file[:3]) + 1:03}.json"}
    turns = [json.loads(line) for line in log.read_text().splitlines()]
    asked = [name for name, question, _ in turns if question == "sample"]
    asked = [name for name in asked if name in pair]
    return bool(asked) and all(
        set(asked[i : i + 2]) == pair for i in range(0, len(asked), 2)
    )


def test_the_processes_of_a_pair_take_turns(pairs: Pairs) -> None:
    log = pairs.folder / "turns"
    pairs.write("base", turns_log=str(log))
    pairs.write("new", turns_log=str(log))
    _, err = pairs.ab(SHORT)
    run = pairs.run()
    assert run.pairs == 7
    assert all(alternates(log, process.file) for process in run.processes[::2])
    sockets = [call["turns"] for call in pairs.calls()]
    assert len(sockets) == 14 and all(int(socket) > 2 for socket in sockets)
    assert "pair 2 of at most 7: 2 of 2 rows undecided" in err
    # A pair's time is counted once.
    both = zip(run.processes[::2], run.processes[1::2], strict=True)
    assert all(one.seconds == other.seconds for one, other in both)


def test_what_changes_in_the_course_of_a_pair_hits_both(pairs: Pairs) -> None:
    """A program's time grows by 0.1 % with each turn of either program."""
    pairs.config.update(rounds=9, weather=0.001, noise=0)
    pairs.write("base")
    pairs.write("new", {"a": 110.0, "b": 200.0})
    pairs.ab(SHORT, status=1)
    ratios = {
        row: [pair.log_ratio for pair in found]
        for row, found in known_pairs(pairs.run(), pairs.out).items()
    }
    assert ratios["a"] == pytest.approx([math.log(1.1)] * 7, abs=0.0011)
    assert ratios["b"] == pytest.approx([0] * 7, abs=0.0011)
    turns = turns_of(pairs.out / "001.samples.jsonl")
    assert {row: len(each[0]) for row, each in turns.items()} == {"a": 9, "b": 9}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], {"benchmark_min_time": "1"}),
        (["--benchmark_min_time=3"], {"benchmark_min_time": "3"}),
        (["--samples=9"], {"samples": "9"}),
    ],
)
def test_calls_take_a_second_unless_the_user_says_how_many(
    pairs: Pairs, flags: list[str], expected: dict[str, str]
) -> None:
    pairs.write("base")
    pairs.ab(SHORT, *flags)
    for call in pairs.calls():
        counts = call.keys() & {"benchmark_min_time", "samples"}
        assert {name: call[name] for name in counts} == expected


def test_the_ratio_of_a_pair() -> None:
    base = Times(100, {0: [100, 300, 100, 100], 1: [50]})
    new = Times(100, {0: [110, 330, 990], 1: [55, 1000]})
    # The rounds' ratios are 1.1, 1.1, 9.9 and 1.1; turns without a partner are ignored.
    assert pair_of(base, new) == pytest.approx((math.log(1.1), 0))
    for new in (Times(120), Times(120, {2: [7]}), Times(120, {0: [7]})):
        assert pair_of(base, new) == pytest.approx((math.log(1.2), 0))
    assert pair_of(Times(1, {0: [0.0]}), Times(2, {0: [1.0]})) == (math.log(2), 0)


def test_a_pair_knows_its_error() -> None:
    def pair(noise: float, rounds: int) -> Pair:
        values = np.random.default_rng(1).standard_normal((2, rounds)) * noise
        base, new = np.exp(values).tolist()
        return pair_of(Times(1, {0: base}), Times(1, {0: new}))

    assert pair(0.01, 400).error == pytest.approx(
        1.1 * 0.01 * math.sqrt(2 / 400), rel=0.1
    )
    assert pair(0.03, 400).error == pytest.approx(3 * pair(0.01, 400).error)
    assert pair(0.01, 100).error == pytest.approx(2 * pair(0.01, 400).error, rel=0.2)
