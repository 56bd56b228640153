# SPDX-License-Identifier: MIT
"""tools/ab with faulty programs or flags."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fake_program import ROWS, SHORT, Pairs
from golden import check_golden
from reports.command import status_of
from reports.compare.decision import RowNoise
from reports.compare.main import main as compare_main
from reports.compare.noise import NoiseFile, load_noise, save_noise
from stub_checkout import write_script
from tools.ab_run.arguments import parse
from tools.ab_run.directory import claimed
from tools.ab_run.errors import Failed, Usage
from tools.ab_run.main import run_ab
from tools.ab_run.progress import StatusLine

SOON = "--max_minutes=0.0001"


def test_an_error_row_costs_no_other_row(pairs: Pairs) -> None:
    pairs.write("base")
    pairs.write("new", errors=["a"])
    out, _ = pairs.ab(SHORT, status=1)
    assert "FAILED a: base measured; new error: wrong" in out
    assert re.search(r"^b .* EQUIVALENT", out, re.MULTILINE)
    # After two pairs without a result, row a is no longer measured.
    assert pairs.filters() == [None] * 2 + ["^(a|b)$"] * 2 + ["^(b)$"] * 10


def test_a_process_that_dies_once_is_run_again(pairs: Pairs) -> None:
    # The other program would wait forever unless it gets its turn.
    pairs.write("base", dies_once=["003.json", "006.json"])
    _, err = pairs.ab(SHORT)
    for file in ("003.json", "006.json"):
        assert f"{file}: the process died of signal 9; once more" in err
    assert err.count("the process") == 2  # the others are not blamed
    assert "    about to die" in err
    assert pairs.run().pairs == 7


def test_two_deaths_in_a_row_end_the_run_and_keep_what_there_is(pairs: Pairs) -> None:
    pairs.write("base", dies=["004.json"])
    _, err = pairs.ab(SHORT, status=1)
    assert err.count("died of signal 9") == 2
    assert "2 processes in a row came to no result" in err
    assert "kept 1 pair in " in err
    assert len(pairs.run().processes) == 2


def test_a_program_that_is_rebuilt_meanwhile_ends_the_run(pairs: Pairs) -> None:
    base = pairs.write("base")
    pairs.write("new", turns_log=str(base))  # a text that the base program ignores
    _, err = pairs.ab(SHORT, status=1)
    kept, why = err.splitlines()[-2:]
    assert kept.endswith(f"kept 0 pairs in {pairs.out}")
    assert why == f"tools/ab: {base} was rebuilt during the run"
    assert pairs.run().pairs == 0


def test_only_another_call_is_at_work_in_a_directory(tmp_path: Path) -> None:
    with claimed(tmp_path), pytest.raises(Usage, match="at work"), claimed(tmp_path):
        pass
    with pytest.raises(BlockingIOError), claimed(tmp_path):
        raise BlockingIOError  # as where a process cannot be started


def test_time_that_is_up_before_any_interval_is_given_again(pairs: Pairs) -> None:
    pairs.write("base")
    for count in (1, 2):
        _, err = pairs.ab(SHORT, SOON)
        run = pairs.run()
        assert (run.ended, run.pairs) == ("max_minutes", count)
        assert f"{count} of the 7 pairs that an interval needs" in err
        assert "the same command continues" in err
    _, err = pairs.ab(SHORT)
    assert "resuming after 2 pairs" in err
    run = pairs.run()
    assert (run.ended, run.pairs) == ("max_pairs", 7)


def test_what_is_refused_measures_nothing(pairs: Pairs) -> None:
    said = {}

    def refused(case: str, *flags: str) -> None:
        _, err = pairs.ab(*flags, status=2)
        said[case] = err.replace(str(pairs.folder), "FOLDER")
        assert pairs.calls() == []

    refused("no program")
    pairs.write("base")
    for flag in (
        *("--nonsense", "--benchmark_filter=zzz", "--max_pairs=6"),
        *("--noise=/none", "--out=/proc/none"),
    ):
        refused(flag, flag)
    pairs.write("new", turns=False)
    refused("a program of suite_version 1")
    pairs.write("new", {"c": 1.0})
    refused("no common row")
    new = pairs.folder / "new"
    new.chmod(0o644)
    refused("not executable")
    write_script(new, "\x7fELF")
    refused("not for this kernel")
    new.unlink()
    new.mkdir()
    refused("a folder")
    check_golden("errors/ab_programs.txt", said)


def test_time_that_is_up_after_an_interval_is_up(pairs: Pairs) -> None:
    at = ["017.json"]
    pairs.write("base", interrupts=at)
    # Alternates between above and below the threshold from pair to pair.
    pairs.write("new", {"a": 102.0, "b": 204.0}, interrupts=at, swing=0.01)
    pairs.ab(status=130)  # undecided after the first look
    _, err = pairs.ab(SOON)
    assert "continues" not in err.splitlines()[-1]
    _, err = pairs.ab()
    assert "after 8 pairs (max_minutes): nothing is measured again; --out=an" in err
    assert pairs.run().pairs == 8


@pytest.mark.parametrize(
    ("errors", "flags", "status", "rows"),
    [([], (), 0, ["a", "b"]), (["a"], (), 1, ["b"]), ([], (SOON,), 1, None)],
)
def test_a_noise_floor_is_of_the_rows_that_were_measured(
    pairs: Pairs,
    errors: list[str],
    flags: tuple[str, ...],
    status: int,
    rows: list[str] | None,
) -> None:
    """Like --same, but for a program instead of a revision."""
    program = str(pairs.write("base", errors=errors))
    noise = pairs.folder / "noise.json"
    tokens = ["--binaries", program, program, f"--out={pairs.out}", SHORT, *flags]
    arguments = replace(parse(tokens), same="a", noise_out=noise)
    try:
        found = run_ab(arguments, StatusLine())
    except Failed as error:
        found = error.status
        assert f"the 7 pairs that a noise floor takes: {noise} is not" in str(error)
    assert found == status
    assert noise.exists() == (rows is not None)
    assert rows is None or list(load_noise(noise).rows) == rows


def write_noise(path: Path, floor: float) -> str:
    """Writes the floors of rows a and b; returns the flag that names the file."""
    rows = {"a": RowNoise(floor, 0.1, 20, 0.2), "b": RowNoise(0, 0.1, 20, 0.2)}
    save_noise(NoiseFile({"device_kind": "cpu"}, rows, "r"), path)
    return f"--noise={path}"


def test_the_larger_of_threshold_and_noise_floor_counts(pairs: Pairs) -> None:
    pairs.write("base")
    pairs.write("new", ROWS | {"a": 110.0})
    noise = write_noise(pairs.folder / "noise.json", 0.5)
    pairs.ab(SHORT, noise)
    rows = {row["name"]: row for row in pairs.result()["comparison"]["rows"]}
    assert (rows["a"]["threshold"], rows["b"]["threshold"]) == (0.5, 0.02)
    assert rows["a"]["verdict"] == "EQUIVALENT"
    (pairs.folder / "noise.json").unlink()  # the directory has its own
    assert compare_main([str(pairs.out)]) == 0
    write_noise(pairs.folder / "noise.json", 0.9)
    _, err = pairs.ab(SHORT, noise, status=2)
    assert "another run: noise was" in err


def test_other_environments_are_refused_after_one_pair(pairs: Pairs) -> None:
    pairs.write("base")
    pairs.write("new", context={"torch": "9.9"})
    for _ in range(3):  # also when called again
        out, err = pairs.ab(SHORT, status=2)
        assert out == ""
        assert "the environments differ in torch (absent v 9.9)" in err
        assert pairs.run().pairs == 1
    pairs.ab(SHORT, "--allow-different-environment")
    assert pairs.run().pairs == 7


def test_a_null_gpu_is_refused_after_one_pair(pairs: Pairs) -> None:
    pairs.write("base", {"a": 0.0}, context={"device_kind": "null_cuda"})
    _, err = pairs.ab("--max_pairs=6", status=2)
    assert "a side ran on a null GPU, which has no times" in err
    assert pairs.run().pairs == 1
    assert status_of("tools/compare", compare_main, [str(pairs.out)]) == 2
