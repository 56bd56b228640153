# SPDX-License-Identifier: MIT
"""tools/ab from the command line to its files, with programs that measure nothing."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fake_program import measuring_calls, write_program
from reports.compare.__main__ import main as compare_main
from reports.compare.ab_reader import load
from reports.compare.ab_record import AbRun
from reports.compare.ab_samples import load as load_samples
from reports.results.rows import NotAResult
from tools.ab_run.__main__ import main
from tools.ab_run.schedule import side_of
from tools.ab_run.task import key_of

ROWS = {"a/x:1": 100.0, "a/x:10": 200.0, "b+c": 300.0}
FIRST_LOOK = 8  # in pairs, for three rows
SECOND = "002.json"
SLOWER = ROWS | {"a/x:1": 120.0}


def ab(base: Path, new: Path, out: Path, *flags: str) -> int:
    return main(["--binaries", str(base), str(new), f"--out={out}", *flags])


def result(out: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((out / "result.json").read_text())
    return document


def verdicts(out: Path) -> dict[str, str]:
    rows = result(out)["comparison"]["rows"]
    return {row["name"]: row["verdict"] for row in rows}


def timeless(run: AbRun) -> AbRun:
    return replace(run, processes=[replace(p, seconds=0) for p in run.processes])


def test_a_slower_row_is_found_and_the_run_stops_early(tmp_path: Path) -> None:
    base = write_program(tmp_path / "base", ROWS)
    new = write_program(tmp_path / "new", SLOWER)
    assert ab(base, new, tmp_path / "out") == 1
    run = load(tmp_path / "out")
    assert run.ended == "decided"
    assert run.pairs == FIRST_LOOK
    assert verdicts(tmp_path / "out") == {
        "a/x:1": "REGRESSED",
        "a/x:10": "EQUIVALENT",
        "b+c": "EQUIVALENT",
    }


def test_the_same_program_on_both_sides_is_not_slower(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS)
    assert ab(base, base, tmp_path / "out") == 0
    assert set(verdicts(tmp_path / "out").values()) == {"EQUIVALENT"}
    assert list(verdicts(tmp_path / "out")) == list(ROWS)
    out, err = capsys.readouterr()
    assert "did not alternate" not in out
    assert re.search(r"^a/x:1 .* to .*  EQUIVALENT +8 pairs$", out, re.MULTILINE)
    assert "pair 2 of at most 40, new: 3 of 3 rows undecided" in err
    assert re.search(r"elapsed, about \d+:\d\d left", err)


def test_processes_take_turns_with_shuffled_cases_and_moved_memory(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    base = write_program(tmp_path / "base", ROWS, log=str(log))
    ab(base, base, tmp_path / "out", "--benchmark_min_time=3", "--device", "cpu")
    calls = measuring_calls(log)
    run = load(tmp_path / "out")
    sides = [process.side for process in run.processes]
    assert sides == [side_of(key_of(run), i) for i in range(len(calls))]
    assert [Path(call["benchmark_out"]).name for call in calls] == [
        process.file for process in run.processes
    ]
    assert all(
        set(sides[i : i + 2]) == {"base", "new"} for i in range(0, len(sides), 2)
    )
    seeds = [call["shuffle"] for call in calls]
    assert seeds[0::2] == seeds[1::2]
    assert len(set(seeds)) == len(seeds) / 2
    assert len({call["padding"] for call in calls}) > len(calls) / 2
    assert {call["benchmark_min_time"] for call in calls} == {"3"}


def test_decided_rows_are_left_out_of_later_processes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    base = write_program(tmp_path / "base", ROWS, log=str(log))
    # Above the threshold in one pair and below it in the next: no look decides it.
    new = write_program(
        tmp_path / "new", ROWS | {"b+c": 306.0}, log=str(log), swing=0.01
    )
    flags = ("--max_pairs=10", "--benchmark_filter=a/|b")
    assert ab(base, new, tmp_path / "out", *flags) == 0
    run = load(tmp_path / "out")
    assert (run.ended, run.pairs) == ("max_pairs", 10)
    filters = [call["benchmark_filter"] for call in measuring_calls(log)]
    assert filters[:2] == ["a/|b"] * 2
    assert filters[2:16] == [r"^(a/x:1|a/x:10|b\+c)$"] * 14
    assert filters[16:] == [r"^(b\+c)$"] * 4
    assert verdicts(tmp_path / "out")["b+c"] == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("at", "name", "status"),
    [
        ("001.json", "SIGINT", 130),
        ("004.json", "SIGINT", 130),
        ("008.json", "SIGTERM", 143),
    ],
)
def test_an_interrupted_run_goes_on_as_if_nothing_had_been(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], at: str, name: str, status: int
) -> None:
    base = write_program(tmp_path / "base", ROWS, interrupts=[at], signal=name)
    assert ab(base, base, tmp_path / "out", "--max_pairs=8") == status
    pairs = (int(at[:3]) - 1) // 2
    kept = f"kept {pairs} pair{'' if pairs == 1 else 's'} in {tmp_path / 'out'};"
    table, err = capsys.readouterr()
    assert f"{kept} the same command again goes on" in err
    assert "did not take turns" not in table
    if (tmp_path / "out" / at).exists():  # not whole, and not counted
        assert at not in [p.file for p in load(tmp_path / "out").processes]
    assert ab(base, base, tmp_path / "out", "--max_pairs=8") == 0
    if at != "001.json":
        assert f"resuming after {pairs} pair" in capsys.readouterr().err
    assert ab(base, base, tmp_path / "whole", "--max_pairs=8") == 0
    resumed, whole = load(tmp_path / "out"), load(tmp_path / "whole")
    assert timeless(resumed) == timeless(whole)
    assert result(tmp_path / "out") == result(tmp_path / "whole")


def test_a_finished_run_only_reports_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    base = write_program(tmp_path / "base", ROWS, log=str(log))
    assert ab(base, base, tmp_path / "out") == 0
    table, _ = capsys.readouterr()
    count = len(measuring_calls(log))
    (tmp_path / "out" / "result.json").unlink()
    copy = tmp_path / "copy.json"
    assert ab(base, base, tmp_path / "out", f"--json={copy}") == 0
    out, err = capsys.readouterr()
    assert out == table
    assert "after 8 pairs (decided): nothing is measured again" in err
    assert len(measuring_calls(log)) == count
    assert json.loads(copy.read_text()) == result(tmp_path / "out")


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("--seed=7", "flags was"),
        ("--threshold=5", "threshold was 0.02 and is 0.05"),
        ("--max_pairs=30", "pairs was 40 and is 30"),
    ],
)
def test_another_run_in_the_same_directory_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, words: str
) -> None:
    base = write_program(tmp_path / "base", ROWS, interrupts=[SECOND])
    assert ab(base, base, tmp_path / "out") == 130
    assert ab(base, base, tmp_path / "out", flag) == 2
    assert f"holds another run: {words}" in capsys.readouterr().err


def test_another_program_in_the_same_directory_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS, interrupts=[SECOND])
    assert ab(base, base, tmp_path / "out") == 130
    write_program(tmp_path / "base", ROWS, noise=0.01)
    assert ab(base, base, tmp_path / "out") == 2
    assert "holds another run: base was 'sha256:" in capsys.readouterr().err


def test_a_directory_of_something_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("")
    assert ab(base, base, tmp_path / "out") == 2
    assert "is not empty, and holds no ab.json" in capsys.readouterr().err
    (tmp_path / "out" / "ab.json").write_text("{")
    assert ab(base, base, tmp_path / "out") == 2
    assert "no run of tools/ab" in capsys.readouterr().err


def test_a_lost_result_is_measured_again(tmp_path: Path) -> None:
    base = write_program(tmp_path / "base", ROWS)
    assert ab(base, base, tmp_path / "out") == 0
    before, run = result(tmp_path / "out"), load(tmp_path / "out")
    (tmp_path / "out" / "005.json").write_text('{"complete":')
    assert ab(base, base, tmp_path / "out") == 0
    assert timeless(load(tmp_path / "out")) == timeless(run)
    assert result(tmp_path / "out") == before


@pytest.mark.parametrize(
    "content", [None, "", '{"name":', "\n\n", '{"name": "b+c", "samples_us": [1]}']
)
def test_lost_samples_are_measured_again(tmp_path: Path, content: str | None) -> None:
    base = write_program(tmp_path / "base", ROWS)
    assert ab(base, base, tmp_path / "out") == 0
    before = result(tmp_path / "out")
    path = tmp_path / "out" / "005.samples.jsonl"
    path.unlink()
    if content is not None:
        path.write_text(content)
    assert ab(base, base, tmp_path / "out") == 0
    assert result(tmp_path / "out") == before


def test_damaged_samples_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.samples.jsonl"
    good = '{"name": "a", "repetition": 0, "samples_us": [1.5, 2]}'
    path.write_text(f"{good}\n")
    assert [(s.row, s.median_us) for s in load_samples(path)] == [("a", 1.75)]
    for line, words in (
        (good[:20], "it breaks off"),
        ("[]", "it is []; expected an object"),
        (good.replace("1.5", '"x"'), "samples_us of it is"),
        (good.replace("1.5, 2", ""), "samples_us of it is []; expected: a list"),
        (good.replace("0", "-1"), "repetition of it is -1"),
    ):
        path.write_text(f"{good}\n{line}\n")
        with pytest.raises(NotAResult) as raised:
            load_samples(path)
        assert str(raised.value).startswith(f"{path}, line 2: {words}")


def test_a_result_that_is_damaged_meanwhile_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS, breaks=["006.json"])
    assert ab(base, base, tmp_path / "out") == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"tools/ab: {tmp_path / 'out' / '001.json'}: it breaks off")


def test_processes_in_another_order_are_not_gone_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS, interrupts=["004.json"])
    assert ab(base, base, tmp_path / "out") == 130
    path = tmp_path / "out" / "ab.json"
    document = json.loads(path.read_text())
    for process in document["processes"]:
        process["side"] = "new" if process["side"] == "base" else "base"
    path.write_text(json.dumps(document))
    assert ab(base, base, tmp_path / "out") == 2
    assert "ran in another order than this version's" in capsys.readouterr().err


def test_the_result_holds_every_sample(tmp_path: Path) -> None:
    base = write_program(tmp_path / "base", ROWS)
    assert ab(base, base, tmp_path / "out") == 0
    samples = result(tmp_path / "out")["samples"]
    found = {(s["row"], s["pair"], s["side"]) for s in samples}
    assert found == {
        (r, p, s) for r in ROWS for p in range(FIRST_LOOK) for s in ("base", "new")
    }
    assert all(len(s["samples_us"]) == 3 for s in samples)
    assert all(s["median_us"] == s["samples_us"][0] for s in samples)


def test_tools_compare_repeats_the_verdict_of_a_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = write_program(tmp_path / "base", ROWS)
    new = write_program(tmp_path / "new", ROWS | {"b+c": 600.0})
    assert ab(base, new, tmp_path / "out") == 1
    table = capsys.readouterr().out
    assert compare_main([str(tmp_path / "out")]) == 1
    assert capsys.readouterr().out == table
    assert compare_main([str(tmp_path / "out"), "--filter=^a", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("### trainbench: no regression\n")
