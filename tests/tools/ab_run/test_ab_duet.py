# SPDX-License-Identifier: MIT
"""tools/ab with two programs at once, which take turns and measure nothing."""

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fake_program import measuring_calls, write_program
from reports.compare.ab_decisions import known_pairs
from reports.compare.ab_reader import load
from reports.compare.ab_times import Times, pair_of
from reports.compare.intervals import Pair
from tools.ab_run.__main__ import main

ROWS = {"a": 100.0, "b": 200.0}
SHORT = "--max_pairs=7"  # the fewest for two rows


def ab(base: Path, new: Path, *flags: str) -> int:
    out = base.parent / "out"
    return main(["--binaries", str(base), str(new), f"--out={out}", *flags])


def write(path: Path, rows: dict[str, float] = ROWS, **config: Any) -> Path:
    return write_program(path, rows, turns=True, **config)


def turns_in(log: Path) -> list[tuple[str, str, str]]:
    """The process, its question and the answer, in the order of the turns."""
    return [tuple(json.loads(line)) for line in log.read_text().splitlines()]


def alternates(log: Path, file: str) -> bool:
    """Whether this process and the next take turns in rounds."""
    other = f"{int(file[:3]) + 1:03}.json"
    asked = [
        name
        for name, question, _ in turns_in(log)
        if question == "sample" and name in (file, other)
    ]
    rounds = [set(asked[i : i + 2]) for i in range(0, len(asked), 2)]
    return bool(rounds) and all(found == {file, other} for found in rounds)


def test_the_processes_of_a_pair_take_turns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, turns = tmp_path / "log", tmp_path / "turns"
    base = write(tmp_path / "base", log=str(log), turns_log=str(turns))
    new = write(tmp_path / "new", log=str(log), turns_log=str(turns))
    assert ab(base, new, SHORT) == 0
    run = load(tmp_path / "out")
    assert run.in_turns and run.pairs == 7
    assert all(alternates(turns, process.file) for process in run.processes[::2])
    sockets = [call["turns"] for call in measuring_calls(log)]
    assert len(sockets) == 14 and all(int(socket) > 2 for socket in sockets)
    assert "pair 2 of at most 7: 2 of 2 rows undecided" in capsys.readouterr().err


def test_what_changes_in_the_course_of_a_pair_hits_both(tmp_path: Path) -> None:
    """A program's time grows by a thousandth with each turn of either program."""
    base = write(tmp_path / "base", rounds=9)
    new = write(tmp_path / "new", {"a": 110.0, "b": 200.0}, rounds=9)
    assert ab(base, new, SHORT) == 1
    run = load(tmp_path / "out")
    ratios = {
        row: [pair.log_ratio for pair in pairs]
        for row, pairs in known_pairs(run, tmp_path / "out").items()
    }
    assert ratios["a"] == pytest.approx([math.log(1.1)] * 7, abs=0.0011)
    assert ratios["b"] == pytest.approx([0] * 7, abs=0.0011)
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert {len(sampled["turn_us"]) for sampled in result["samples"]} == {9}


def test_the_time_of_a_pair_is_counted_once(tmp_path: Path) -> None:
    base = write(tmp_path / "base")
    assert ab(base, base, SHORT) == 0
    run = load(tmp_path / "out")
    pairs = zip(run.processes[::2], run.processes[1::2], strict=True)
    assert all(one.seconds == other.seconds for one, other in pairs)


@pytest.mark.parametrize("flag", ["--benchmark_min_time=3", "--samples=9"])
def test_calls_take_a_second_unless_the_user_says_how_many(
    tmp_path: Path, flag: str
) -> None:
    log = tmp_path / "log"
    base = write(tmp_path / "base", log=str(log))
    assert ab(base, base, SHORT) == 0
    calls = measuring_calls(log)
    assert {call["benchmark_min_time"] for call in calls} == {"1"}
    assert ab(base, base, SHORT, flag, f"--out={tmp_path / 'other'}") == 0
    name, _, value = flag.lstrip("-").partition("=")
    for call in measuring_calls(log)[len(calls) :]:
        assert call[name] == value
        assert call.get("benchmark_min_time") in (None, "3")


def test_an_older_program_has_the_machine_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    base = write_program(tmp_path / "base", ROWS, log=str(log))
    new = write(tmp_path / "new", log=str(log))
    assert ab(base, new, SHORT) == 0
    assert capsys.readouterr().err.count("a revision has no --turns") == 1
    assert not load(tmp_path / "out").in_turns
    assert all("turns" not in call for call in measuring_calls(log))


def test_a_row_that_fails_on_one_side_delays_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write(tmp_path / "base")
    new = write(tmp_path / "new", errors=["a"])
    assert ab(base, new, SHORT) == 1
    assert "LOST  a: base measured; new error: wrong" in capsys.readouterr().out
    assert load(tmp_path / "out").pairs == 7


def test_rows_of_one_side_are_measured_alone(tmp_path: Path) -> None:
    base = write(tmp_path / "base", ROWS | {"gone": 1.0})
    new = write(tmp_path / "new", ROWS | {"fresh": 1.0})
    assert ab(base, new, SHORT) == 1  # a row was lost
    assert load(tmp_path / "out").pairs == 7


def test_when_one_dies_the_pair_is_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The other one would wait for ever, were its turn not to come.
    base = write(tmp_path / "base", dies_once=["003.json", "006.json"])
    assert ab(base, base, SHORT) == 0
    err = capsys.readouterr().err
    for file in ("003.json", "006.json"):
        assert f"{file}: the process died of signal 9; once more" in err
    assert err.count("the process") == 2  # the others are not to blame
    assert load(tmp_path / "out").pairs == 7


def test_two_deaths_in_a_row_end_the_run(tmp_path: Path) -> None:
    base = write(tmp_path / "base", dies=["004.json"])
    assert ab(base, base, SHORT) == 1
    assert len(load(tmp_path / "out").processes) == 2


@pytest.mark.parametrize("at", ["001.json", "004.json"])
def test_an_interrupt_ends_both_and_the_run_goes_on(tmp_path: Path, at: str) -> None:
    base = write(tmp_path / "base", interrupts=[at])
    files = len(os.listdir("/proc/self/fd"))
    assert ab(base, base, SHORT) == 130
    assert len(load(tmp_path / "out").processes) == 2 * ((int(at[:3]) - 1) // 2)
    assert ab(base, base, SHORT) == 0
    run = load(tmp_path / "out")
    assert run.pairs == 7 and run.in_turns
    assert len(os.listdir("/proc/self/fd")) == files


def test_a_run_of_before_is_read_and_not_gone_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write(tmp_path / "base", interrupts=["004.json"])
    assert ab(base, base, SHORT) == 130
    path = tmp_path / "out" / "ab.json"
    document = json.loads(path.read_text())
    del document["in_turns"]
    path.write_text(json.dumps(document))
    assert not load(tmp_path / "out").in_turns
    assert ab(base, base, SHORT) == 2
    assert (
        "holds another run: in turns was False and is True" in capsys.readouterr().err
    )


def test_the_ratio_of_a_pair() -> None:
    base = Times(100, {0: [100, 300, 100, 100], 1: [50]})
    new = Times(100, {0: [110, 330, 990], 1: [55, 1000]})
    # Of rounds 1.1, 1.1, 9.9 and 1.1; the turns without a partner are left out.
    assert pair_of(base, new) == pytest.approx((math.log(1.1), 0))
    assert pair_of(base, Times(120)) == pytest.approx((math.log(1.2), 0))
    assert pair_of(base, Times(120, {2: [7]})) == pytest.approx((math.log(1.2), 0))
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
