# SPDX-License-Identifier: MIT
"""tools/ab when a program or its flags are not as they should be."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from fake_program import measuring_calls, write_program
from reports.compare.__main__ import main as compare_main
from reports.compare.ab_reader import load
from reports.compare.noise import load_noise
from tools.ab_run.__main__ import main, run_ab
from tools.ab_run.arguments import parse
from tools.ab_run.errors import Failed
from tools.ab_run.progress import StatusLine

ROWS = {"a": 100.0, "b": 200.0}
SHORT = "--max_pairs=7"  # the fewest for two rows


def ab(base: Path, new: Path, *flags: str) -> int:
    out = base.parent / "out"
    return main(["--binaries", str(base), str(new), f"--out={out}", *flags])


def test_an_error_row_costs_no_other_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    base = write_program(tmp_path / "base", ROWS, log=str(log))
    new = write_program(tmp_path / "new", ROWS, log=str(log), errors=["a"])
    assert ab(base, new, SHORT) == 1
    out = capsys.readouterr().out
    assert "LOST  a: base measured; new error: wrong" in out
    assert re.search(r"^b .* EQUIVALENT", out, re.MULTILINE)
    # After two pairs it is known to be fruitless.
    filters = [call.get("benchmark_filter") for call in measuring_calls(log)]
    assert filters == [None] * 2 + ["^(a|b)$"] * 2 + ["^(b)$"] * 10


def test_a_process_that_dies_once_is_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS, dies_once=["004.json"])
    assert ab(base, base, SHORT) == 0
    err = capsys.readouterr().err
    assert "004.json: the process died of signal 9; once more" in err
    assert "    about to die" in err
    assert load(tmp_path / "out").pairs == 7


def test_two_deaths_in_a_row_end_the_run_and_keep_what_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS, dies=["004.json"])
    assert ab(base, base, SHORT) == 1
    err = capsys.readouterr().err
    assert "2 processes in a row came to no result" in err
    assert "kept 1 pair in " in err
    assert len(load(tmp_path / "out").processes) == 3


def test_rows_of_one_side_run_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    base = write_program(tmp_path / "base", ROWS | {"gone": 1.0}, log=str(log))
    new = write_program(tmp_path / "new", ROWS | {"fresh": 1.0}, log=str(log))
    assert ab(base, new, SHORT) == 1  # a row was lost
    assert load(tmp_path / "out").rows == ["a", "b"]
    filters = [call.get("benchmark_filter") for call in measuring_calls(log)]
    assert filters == [None] * 2 + ["^(a|b)$"] * 12


def test_an_older_program_runs_in_its_usual_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    base = write_program(tmp_path / "base", ROWS, log=str(log), shuffles=False)
    new = write_program(tmp_path / "new", ROWS, log=str(log))
    assert ab(base, new, SHORT) == 0
    assert capsys.readouterr().err.count("a revision has no --shuffle") == 1
    assert all("shuffle" not in call for call in measuring_calls(log))


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--nonsense"], "does not take these flags: trainbench: unknown flag"),
        (["--benchmark_filter=zzz"], "does not take these flags: trainbench: no case"),
        (["--max_pairs=6"], "each of 2 rows at 0.95 together takes 7 pairs"),
        (["--noise=/none"], "--noise: /none: no noise floor"),
        (["--shuffle=3"], "--shuffle is not for a run of pairs"),
        (["--out=/proc/none"], "--out: /proc/none"),
    ],
)
def test_wrong_usage_measures_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], words: str
) -> None:
    log = tmp_path / "log"
    base = write_program(tmp_path / "base", ROWS, log=str(log))
    assert ab(base, base, *flags) == 2
    assert words in capsys.readouterr().err
    assert not log.exists() or measuring_calls(log) == []


def test_programs_without_a_common_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", {"a": 1.0})
    new = write_program(tmp_path / "new", {"b": 1.0})
    assert ab(base, new) == 2
    assert "have no row in common" in capsys.readouterr().err


def test_what_is_no_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = write_program(tmp_path / "base", ROWS)
    plain = tmp_path / "plain"
    assert ab(base, plain) == 2
    assert f"{plain} is missing" in capsys.readouterr().err
    plain.write_text("")
    assert ab(base, plain) == 2
    assert f"{plain} is not executable" in capsys.readouterr().err
    assert ab(base, tmp_path) == 2
    assert f"{tmp_path} is no file" in capsys.readouterr().err
    plain.chmod(0o755)  # an executable that the kernel cannot start
    plain.write_bytes(b"\x7fELF")
    assert ab(base, plain) == 2
    assert f"{plain} cannot be run" in capsys.readouterr().err


def test_the_time_limit_ends_the_run(tmp_path: Path) -> None:
    base = write_program(tmp_path / "base", ROWS)
    assert ab(base, base, "--max_minutes=0.0001") == 0
    run = load(tmp_path / "out")
    assert (run.ended, run.pairs) == ("max_minutes", 1)


def test_time_that_is_up_before_any_interval_is_given_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS)
    limit = "--max_minutes=0.0001"
    for pairs in (1, 2):
        assert ab(base, base, SHORT, limit) == 0
        err = capsys.readouterr().err
        run = load(tmp_path / "out")
        assert (run.ended, run.pairs) == ("max_minutes", pairs)
        counted = "1 pair" if pairs == 1 else "2 pairs"
        assert f"{counted} of the 7 that an interval takes" in err
        assert "the same command again goes on" in err
    assert ab(base, base, SHORT) == 0
    assert "resuming after 2 pairs" in capsys.readouterr().err
    run = load(tmp_path / "out")
    assert (run.ended, run.pairs) == ("max_pairs", 7)


def test_time_that_is_up_after_an_interval_is_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["017.json"]
    base = write_program(tmp_path / "base", ROWS, interrupts=at)
    # Above the threshold in one pair and below it in the next.
    rows = {"a": 102.0, "b": 204.0}
    new = write_program(tmp_path / "new", rows, interrupts=at, swing=0.01)
    assert ab(base, new) == 130  # after the first look, undecided
    assert ab(base, new, "--max_minutes=0.0001") == 0
    assert "goes on" not in capsys.readouterr().err.splitlines()[-1]
    assert ab(base, new) == 0
    err = capsys.readouterr().err
    assert "after 8 pairs (max_minutes): nothing is measured again; --out=an" in err
    assert load(tmp_path / "out").pairs == 8


def same(program: Path, *flags: str) -> int:
    """As --same, which takes a revision, but of a program."""
    out = program.parent / "out"
    tokens = ["--binaries", str(program), str(program), f"--out={out}", *flags]
    arguments = replace(
        parse(tokens), same="a", noise_out=program.parent / "noise.json"
    )
    try:
        return run_ab(arguments, StatusLine())
    except Failed as error:
        print(error)
        return error.status


def test_an_error_fails_a_run_of_the_same_program(tmp_path: Path) -> None:
    base = write_program(tmp_path / "base", ROWS, errors=["a"])
    assert same(base, SHORT) == 1
    assert list(load_noise(tmp_path / "noise.json").rows) == ["b"]


def test_a_noise_floor_of_a_good_run_is_good(tmp_path: Path) -> None:
    base = write_program(tmp_path / "base", ROWS)
    assert same(base, SHORT) == 0
    assert list(load_noise(tmp_path / "noise.json").rows) == ["a", "b"]


def test_a_noise_floor_without_rows_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS)
    assert same(base, SHORT, "--max_minutes=0.0001") == 1
    said = f"the 7 pairs that a noise floor takes: {tmp_path / 'noise.json'} is not"
    assert said in capsys.readouterr().out
    assert not (tmp_path / "noise.json").exists()


def write_noise(path: Path, floor: float) -> str:
    """The flag with that file."""
    row = {"floor": floor, "spread": 0.1, "pairs": 20, "reach": 0.2}
    noise = {"kind": "trainbench noise floor", "version": 1}
    noise |= {"context": {"device_kind": "cpu"}, "revision": "r", "rows": {"a": row}}
    path.write_text(json.dumps(noise))
    return f"--noise={path}"


def test_a_changed_copy_of_the_noise_floor_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS, interrupts=["002.json"])
    noise = write_noise(tmp_path / "noise.json", 0.5)
    assert ab(base, base, SHORT, noise) == 130
    copy = tmp_path / "out" / "noise.json"
    write_noise(copy, 0.9)
    capsys.readouterr()
    assert ab(base, base, SHORT, noise) == 2
    said = f"{copy} is not the noise floor that the run began with; once it is deleted"
    assert said in capsys.readouterr().err
    assert compare_main([str(tmp_path / "out")]) == 2
    assert "is not the noise floor that the run" in capsys.readouterr().err
    copy.unlink()
    assert ab(base, base, SHORT, noise) == 0
    assert compare_main([str(tmp_path / "out")]) == 0


def test_a_noise_floor_above_the_threshold_counts(tmp_path: Path) -> None:
    base = write_program(tmp_path / "base", ROWS)
    new = write_program(tmp_path / "new", ROWS | {"a": 110.0})
    assert ab(base, new, SHORT, write_noise(tmp_path / "noise.json", 0.5)) == 0
    comparison = json.loads((tmp_path / "out/result.json").read_text())["comparison"]
    rows = {row["name"]: row for row in comparison["rows"]}
    assert rows["a"]["threshold"] == 0.5
    assert rows["a"]["verdict"] == "EQUIVALENT"
    assert rows["b"]["threshold"] == 0.02
    assert (tmp_path / "out/noise.json").exists()


def test_other_environments_are_refused_after_one_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS)
    new = write_program(tmp_path / "new", ROWS, torch="9.9")
    assert ab(base, new, SHORT) == 2
    out, err = capsys.readouterr()
    assert "the environments differ in torch (absent v 9.9)" in err
    assert out == ""
    for _ in range(2):  # also when it is called again
        assert load(tmp_path / "out").pairs == 1
        assert ab(base, new, SHORT) == 2
    assert ab(base, new, SHORT, "--allow-different-environment") == 0
    assert load(tmp_path / "out").pairs == 7
