# SPDX-License-Identifier: MIT
"""tools/ab from the command line to its files, with programs that measure nothing."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from fake_program import Pairs
from reports.compare.ab_record import AbRun
from reports.compare.main import main as compare_main
from tools.ab_run.schedule import side_of
from tools.ab_run.task import key_of

ROWS = {"a/x:1": 100.0, "a/x:10": 200.0, "b+c": 300.0}
FIRST_LOOK = 8  # pairs, for three rows


def verdicts(pairs: Pairs) -> dict[str, str]:
    rows = pairs.result()["comparison"]["rows"]
    return {row["name"]: row["verdict"] for row in rows}


def timeless(run: AbRun) -> AbRun:
    return replace(run, processes=[replace(p, seconds=0) for p in run.processes])


def test_a_slower_row_is_found_and_tools_compare_says_so_again(pairs: Pairs) -> None:
    pairs.write("base", ROWS)
    pairs.write("new", ROWS | {"b+c": 600.0})
    table, _ = pairs.ab(status=1)
    run = pairs.run()
    assert (run.ended, run.pairs) == ("decided", FIRST_LOOK)
    found = {"a/x:1": "EQUIVALENT", "a/x:10": "EQUIVALENT", "b+c": "REGRESSED"}
    assert verdicts(pairs) == found
    assert compare_main([str(pairs.out)]) == 1
    assert pairs.captured.readouterr().out == table
    assert compare_main([str(pairs.out), "--filter=^a", "--markdown"]) == 0
    page = pairs.captured.readouterr().out
    assert page.startswith("### trainbench: no regression\n")


def test_processes_take_turns_with_shuffled_cases_and_moved_memory(
    pairs: Pairs,
) -> None:
    pairs.write("base", ROWS)
    pairs.ab("--benchmark_min_time=3", "--device", "cpu")
    calls, run = pairs.calls(), pairs.run()
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


def test_decided_rows_are_left_out_of_later_processes(pairs: Pairs) -> None:
    pairs.write("base", ROWS)
    # Alternates around the threshold from pair to pair: no look decides it.
    pairs.write("new", ROWS | {"b+c": 307.5}, swing=0.01)
    table, _ = pairs.ab("--max_pairs=10", "--benchmark_filter=a/|b")
    run = pairs.run()
    assert (run.ended, run.pairs) == ("max_pairs", 10)
    filters = pairs.filters()
    assert filters[:2] == ["a/|b"] * 2
    assert filters[2:16] == [r"^(a/x:1|a/x:10|b\+c)$"] * 14
    assert filters[16:] == [r"^(b\+c)$"] * 4
    assert verdicts(pairs)["b+c"] == "INCONCLUSIVE"
    assert "a new run needs about" in table


@pytest.mark.parametrize(
    ("at", "name", "status"),
    [
        ("001.json", "SIGINT", 130),
        ("004.json", "SIGINT", 130),
        ("008.json", "SIGTERM", 143),
    ],
)
def test_an_interrupted_run_goes_on_as_if_nothing_had_been(
    pairs: Pairs, at: str, name: str, status: int
) -> None:
    pairs.write("base", ROWS, interrupts=[at], signal=name)
    pairs.out.mkdir()
    (pairs.out / ".0.tmp").touch()  # as a killed call left it
    files = len(os.listdir("/proc/self/fd"))
    table, err = pairs.ab("--max_pairs=8", status=status)
    assert len(os.listdir("/proc/self/fd")) == files
    count = (int(at[:3]) - 1) // 2
    kept = f"kept {count} pair{'' if count == 1 else 's'} in {pairs.out};"
    assert f"{kept} the same command continues" in err
    assert "did not take turns" not in table
    if (pairs.out / at).exists():  # incomplete and not counted
        assert at not in [p.file for p in pairs.run().processes]
    _, err = pairs.ab("--max_pairs=8")
    assert at == "001.json" or f"resuming after {count} pair" in err
    resumed, result = pairs.run(), pairs.result()
    pairs.out.rename(pairs.folder / "resumed")
    pairs.ab("--max_pairs=8")
    assert timeless(resumed) == timeless(pairs.run())
    assert result == pairs.result()


def test_another_run_in_the_same_directory_is_refused(pairs: Pairs) -> None:
    def refused(words: str, *flags: str) -> None:
        _, err = pairs.ab(*flags, status=2)
        assert words in err

    pairs.write("base", ROWS, interrupts=["004.json"])
    pairs.ab(status=130)
    refused("another run: flags was", "--seed=7")
    refused("another run: threshold was 0.02 and is 0.05", "--threshold=5")
    refused("another run: pairs was 40 and is 30", "--max_pairs=30")
    path = pairs.out / "ab.json"
    document = json.loads(path.read_text())
    for process in document["processes"]:
        process["side"] = "new" if process["side"] == "base" else "base"
    path.write_text(json.dumps(document))
    refused("ran in another order than this version's")
    pairs.write("base", ROWS, noise=0.01)
    refused("another run: base was 'sha256:")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("precious", "", "is not empty, and holds no ab.json"),
        ("ab.json", "{", "not a run of tools/ab"),
    ],
)
def test_a_directory_of_something_else_is_left_alone(
    pairs: Pairs, name: str, text: str, words: str
) -> None:
    pairs.write("base", ROWS)
    pairs.out.mkdir()
    (pairs.out / name).write_text(text)
    _, err = pairs.ab(status=2)
    assert words in err
    assert [path.name for path in pairs.out.iterdir()] == [name]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("005.json", '{"complete":'),
        ("005.samples.jsonl", None),
        ("005.samples.jsonl", ""),
        ("005.samples.jsonl", '{"name":'),
        ("005.samples.jsonl", "\n\n"),
        ("005.samples.jsonl", '{"name": "b+c", "samples_us": [1]}'),
    ],
)
def test_what_is_lost_is_measured_again(
    pairs: Pairs, file: str, content: str | None
) -> None:
    pairs.write("base", ROWS)
    pairs.ab()
    result, run = pairs.result(), pairs.run()
    (pairs.out / file).unlink()
    if content is not None:
        (pairs.out / file).write_text(content)
    pairs.ab()
    assert timeless(pairs.run()) == timeless(run)
    assert pairs.result() == result


def test_a_result_that_is_damaged_meanwhile_is_named(pairs: Pairs) -> None:
    pairs.write("base", ROWS, breaks=["006.json"])
    _, err = pairs.ab(status=2)
    last = err.splitlines()[-1]
    assert last.startswith(f"tools/ab: {pairs.out / '001.json'}: it breaks off")
