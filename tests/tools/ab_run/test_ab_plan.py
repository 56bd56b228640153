# SPDX-License-Identifier: MIT
"""The command line of tools/ab, and its consequences for each process."""

import io
import re
from itertools import pairwise
from pathlib import Path

import pytest

from golden import check_golden
from tools.ab_run import schedule
from tools.ab_run.arguments import Arguments, parse
from tools.ab_run.errors import Usage
from tools.ab_run.progress import StatusLine, duration

KEYS = [f"key {number}" for number in range(100)]


def pairs_of(key: str) -> list[str]:
    """Returns the sides of 40 pairs, each by its first letter."""
    sides = "".join(schedule.side_of(key, position)[0] for position in range(80))
    return [sides[i : i + 2] for i in range(0, 80, 2)]


def test_a_coin_that_follows_from_the_key_decides_which_side_is_first() -> None:
    runs = {key: pairs_of(key) for key in KEYS}
    assert all(set(pairs) == {"bn", "nb"} for pairs in runs.values())
    # 40 tosses per run, 4000 in all; the bounds are 4 and 3.8 standard deviations wide.
    counts = [pairs.count("bn") for pairs in runs.values()]
    assert all(7 <= count <= 33 for count in counts)
    assert abs(sum(counts) - 2000) <= 120
    # There is no period: the next pair has the same order half of the time.
    same = sum(a == b for pairs in runs.values() for a, b in pairwise(pairs))
    assert abs(same - 1950) <= 120
    # The runs also differ from each other at every position.
    assert runs == {key: pairs_of(key) for key in KEYS}
    assert len(set(map(tuple, runs.values()))) == len(KEYS)
    for place in range(40):
        assert 30 <= sum(pairs[place] == "bn" for pairs in runs.values()) <= 70


def test_seeds_and_padding_follow_from_the_key() -> None:
    seeds = [schedule.seed_of("k", pair) for pair in range(40)]
    assert seeds == [schedule.seed_of("k", pair) for pair in range(40)]
    assert len(set(seeds)) == 40
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert seeds != [schedule.seed_of("other", pair) for pair in range(40)]
    lengths = [len(schedule.padding_of("k", position)) for position in range(200)]
    assert max(lengths) - min(lengths) > 3500
    assert abs(sum(lengths[0::4]) - sum(lengths[1::4])) / 50 < 1000


def test_a_filter_finds_exactly_its_names() -> None:
    names = ["a/x:1", "a/x:10", "b+c", "d.e", "f(g)[h]{i}", "j|k", "l^$", "m\\n", "o*?"]
    for chosen in ([names[0]], names[1:4], names):
        expression = schedule.filter_of(chosen)
        assert expression is not None
        assert [n for n in names if re.search(expression, n)] == list(chosen)
    dots = schedule.filter_of(["d.e"])
    assert dots is not None and not re.search(dots, "dxe")


def test_a_filter_that_no_argument_can_hold() -> None:
    assert schedule.filter_of(["x" * 50] * 1000) is not None
    assert schedule.filter_of(["x" * 50] * 2000) is None


def test_two_revisions_and_everybodys_flags() -> None:
    given = parse(
        "main --threshold=3 HEAD --device cpu --max_minutes 5 "
        "--benchmark_filter=a|b --out=o --confidence=90 --nolist".split()
    )
    assert given == Arguments(
        revisions=["main", "HEAD"],
        flags=["--device", "cpu", "--nolist"],
        max_pairs=40,
        max_minutes=5.0,
        threshold=0.03,
        confidence=0.9,
        out=Path("o"),
        benchmark_filter="a|b",
    )


WRONG = """
    ; a b --same=c; a; a b --pairs=3; --same=a --max_pairs=3; a b --threshold=x;
    a b --threshold=-1; a b --threshold=100; a b --threshold=nan; a b --max_minutes=x;
    a b --max_pairs=0; a b --confidence=100; a b --confidence=0.95;
    a b --confidence=50; --binaries a; a b --benchmark_filter; a b --benchmark_out=x;
    a b --samples_out x; a b --resume=x; a b --shuffle=3"""


def test_wrong_usage() -> None:
    said = {}
    for line in (" ".join(one.split()) for one in WRONG.split(";")):
        with pytest.raises(Usage) as raised:
            parse(line.split())
        said[line] = str(raised.value)
        assert "\n" not in said[line]
    check_golden("errors/ab.txt", said)


def test_durations() -> None:
    found = [duration(s) for s in (0, 59.6, 65, 3600)]
    assert found == ["0:00", "1:00", "1:05", "1:00:00"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    screen = Terminal()
    status_line = StatusLine(screen)
    status_line.show("a" * 20)
    status_line.update("b")
    status_line.print("stays")
    status_line.print("too")
    assert screen.getvalue() == f"\r\x1b[K{'a' * 9}\r\x1b[Kb\r\x1b[Kstays\ntoo\n"
