# SPDX-License-Identifier: MIT
"""tools/history on a store of forty commits; one of them changed two rows."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from golden import check_golden, refusals
from histories import add, fake_ab, filled, repository, result
from processes import wait_until
from reports.command import status_of
from reports.history import commands
from reports.history.commits import address_of
from reports.history.main import main
from reports.history.oracle import flags_of
from reports.history.series import FEWEST
from reports.history.store import Store
from results import ROOT, write
from stub_checkout import git

SINCE = 30  # index of the commit that changes both rows


class Case:
    def __init__(self, root: Path) -> None:
        self.root, self.store = root / "repository", Store(root / "store")
        self.revisions = repository(self.root)
        filled(self.store, root, self.revisions, 1.05, SINCE)
        self.flags = (f"--store={self.store.folder}", f"--repository={self.root}")

    def run(self, *words: str) -> int | None:
        return status_of("tools/history", main, [*self.flags, *words])


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("history"))


Lines = Callable[[], list[str]]


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    """Returns a function that gives the lines on stdout since its last call."""
    return lambda: capsys.readouterr().out.splitlines()


def test_check_names_the_commit_of_each_change(case: Case, lines: Lines) -> None:
    assert case.run("check") == 1
    series, _, *found = lines()
    assert series.endswith(f"40 commits to {case.revisions[-1][:10]}, 10 rows")
    assert [line.split()[:2] for line in found] == [
        ["suspected", "e0/row"],
        ["exact", "e1/row"],
    ]
    assert all(f"{case.revisions[SINCE][:10]} change 30" in line for line in found)


@pytest.mark.parametrize(("window", "status"), [(10, 1), (9, 0)])
def test_an_old_suspicion_is_only_listed(
    window: int, status: int, case: Case, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "WINDOW", window)
    assert case.run("check") == status
    assert lines()[2].startswith("suspected  e0/row")


def test_times_of_few_processes_are_left_out(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path)
    for number, revision in enumerate(case.revisions):
        times = [100.0 + 50 * (number >= SINCE)] * (FEWEST - 1)
        add(store, tmp_path, result(revision, {"e/row": times}, number))
    assert case.run(f"--store={store.folder}", "check") == 0
    said = f"left out: times in 40 commits with fewer than {FEWEST} processes\n"
    printed = capsys.readouterr()
    assert printed.err == said
    assert printed.out.splitlines()[1:] == ["no change"]


@pytest.mark.parametrize(
    ("fewest", "kind", "status"), [(99, "CONFIRMED", 1), (999, "suspected", 0)]
)
def test_confirm_keeps_what_pairs_say(
    fewest: int, kind: str, status: int, tmp_path: Path, lines: Lines
) -> None:
    case = Case(tmp_path)
    bad = case.revisions[SINCE + 2]
    calls = fake_ab(case.root, {bad: {"ratio": 1.05, "pairs": fewest}})
    assert case.run("confirm") == status
    ends = f"{case.revisions[SINCE - 3][:10]}..{bad[:10]}"
    (said,) = lines()
    assert said == f"{kind} e0/row +5.0 % (+4.0 % to +6.0 %) by 12 pairs, {ends}"
    assert case.run("confirm") == 0, "nothing is left to measure"
    asked = calls.read_text()
    assert re.findall("max_minutes=([^ ]+)", asked) == ["1e-09", "120"], "asked once"
    assert asked.endswith("--benchmark_filter=^e0/row$ --suite=smoke\n")
    assert lines() == []
    assert case.run("check") == 1 - status
    assert lines()[2].split()[0] == kind


def test_confirm_goes_on_where_a_commit_is_not_measured_here(tmp_path: Path) -> None:
    case = Case(tmp_path)
    for without in ({"status": 3}, {"absent": True}, {"status": 2}, {"status": 1}):
        fake_ab(case.root, {case.revisions[SINCE + 2]: without})
        assert case.run("confirm") == 2
    assert not list((case.store.folder / "verdicts").rglob("*.json"))


def test_confirm_skips_the_suspicions_of_another_machine(tmp_path: Path) -> None:
    case = Case(tmp_path)
    filled(case.store, tmp_path, case.revisions, 1.05, SINCE, torch="new")
    bad = case.revisions[SINCE + 2]
    for torch, status in (("another", 0), ("new", 1)):
        answer = {"context": {"torch": torch}, "ratio": 1.05}
        calls = fake_ab(case.root, {bad: answer})
        assert case.run("confirm", "--most=1") == status
        minutes = re.findall("max_minutes=([^ ]+)", calls.read_text())
        assert minutes == ["1e-09", "1e-09", *["120"] * status]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_ab_too(tmp_path: Path, number: int) -> None:
    case = Case(tmp_path)
    calls = fake_ab(case.root, {case.revisions[SINCE + 2]: {"waits": True}})
    module = ("reports.command", "tools/history", "reports.history.main")
    command = (sys.executable, "-m", *module, *case.flags, "confirm")
    # As a shell without job control starts a command in the background.
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    is_alone = number == signal.SIGTERM  # a terminal's SIGINT reaches the group
    before, send = (ignore, os.kill) if is_alone else (os.setpgrp, os.killpg)
    process = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, preexec_fn=before
    )
    assert wait_until(lambda: calls.read_text() != "")
    send(process.pid, number)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err == "tools/history: interrupted\n"
    assert calls.read_text().splitlines()[1:] == ["interrupted", "ended"]


def test_bisect_asks_ab_until_one_commit_is_left(case: Case, lines: Lines) -> None:
    slower = {revision: {"ratio": 1.05} for revision in case.revisions[SINCE:]}
    slower[case.revisions[25]] = {"status": 3}
    slower[case.revisions[SINCE]] |= {"pairs": 100}
    calls = fake_ab(case.root, slower)
    ends = (case.revisions[20], case.revisions[-1])
    assert case.run("bisect", "e0/row", *ends) == 0
    assert lines() == [f"{case.revisions[SINCE][:10]} change 30"]
    assert all("--suite=smoke" in line for line in calls.read_text().splitlines())
    assert case.run("bisect", "e0/row", *ends[::-1]) == 2, "the good one is later"
    asked = calls.read_text()
    assert case.run("bisect", "--metric=flop", "e0/row", *ends) == 2
    assert calls.read_text() == asked, "no such counter: nothing is measured"
    fake_ab(case.root, {})
    assert case.run("bisect", "e0/row", *ends) == 2, "the ends are equal"


def test_a_search_with_flags_needs_no_store(case: Case, lines: Lines) -> None:
    fake_ab(case.root, {case.revisions[-1]: {"ratio": 1.05}})
    ends = case.revisions[-2:]
    assert case.run("--store=none", "bisect", "e0/row", *ends, "--", "--seq=64") == 0
    assert lines() == [f"{ends[1][:10]} change 39"]


def test_a_machine_that_is_not_used_any_more_decides_no_status_and_explains_itself(
    case: Case, tmp_path: Path, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "WINDOW", 2)
    store = Store(tmp_path / "store")
    for number, (calls, torch) in enumerate([(1, "1"), (2, "1"), (2, "2"), (2, "2")]):
        of_run = {"counters": {"flops": calls}, "context": {"torch": torch}}
        revision = case.revisions[number]
        add(store, tmp_path, result(revision, {"e/row": [1]}, number, **of_run))
        status = case.run(f"--store={store.folder}", "check")
        assert status == int(number in (1, 2))
    again = result(case.revisions[1], {"e/row": [1]}, 9, context={"torch": "2"})
    add(store, tmp_path, again)  # newer, but the commit before lacks this machine
    lines()
    for other, status in ((0, 0), (1, 0), (3, 2)):
        ends = (case.revisions[0], case.revisions[other])
        assert case.run(f"--store={store.folder}", "explain", *ends) == status
    assert lines()[1:] == ["e/row", "  flops 1 FLOP -> 2 FLOP (WORSE)"]


def test_a_search_by_time_has_the_flags_of_measured_times(tmp_path: Path) -> None:
    case = Case(tmp_path)
    last = case.revisions[-1]
    other = {"command_line": "trainbench --suite=full"}  # of a result without the row
    add(case.store, tmp_path, result(last, {"e/other": [1]}, 98, context=other))
    null = {"device_kind": "null_cuda", "command_line": "trainbench --device=cuda"}
    add(case.store, tmp_path, result(last, {"e0/row": [0]}, 99, context=null))
    calls = fake_ab(case.root, {})
    for metric, flag in (((), "--suite=smoke"), (("--metric=flops",), "--device=cuda")):
        assert case.run("bisect", *metric, "e0/row", case.revisions[0], last) == 2
        assert calls.read_text().splitlines()[-1].endswith(f" {flag}")


def test_the_page_has_a_plot_for_every_row(case: Case, tmp_path: Path) -> None:
    git(case.root, "config", "remote.origin.url", "git@host.example:team/project.git")
    page = tmp_path / "deep" / "history.html"
    assert case.run("page", "-o", str(page)) == case.run("page") == 0
    text = page.read_text()
    assert case.store.folder.with_suffix(".html").read_text() == text
    address = f"https://host.example/team/project/commit/{case.revisions[SINCE]}"
    assert text.count("<figure data-row") == 10 and f'href="{address}"' in text
    assert text.count("data-changed") == 2


@pytest.mark.parametrize(
    ("remote", "place"),
    [
        ("ssh://git@host.example:2222/team/it.git", "host.example/team/it"),
        ("https://me:key@host.example:8443/team/it/", "host.example:8443/team/it"),
        ("host.example:it", "host.example/it"),
        *((path, "") for path in ("../it.git", "/srv/it.git", "file:///srv/it.git")),
    ],
)
def test_the_address_of_a_commit(tmp_path: Path, remote: str, place: str) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "remote.origin.url", remote)
    assert address_of(tmp_path) == (f"https://{place}/commit/" if place else "")


def test_exports_have_the_newest_point(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    assert case.run("export", "github", "-o", str(path)) == 0
    entries = {entry["name"]: entry for entry in json.loads(path.read_text())}
    assert entries["e1/row flops"]["value"] == 1e6 + 1
    assert entries["e0/row"]["unit"] == "us" and "range" in entries["e0/row"]
    assert case.run("export", "bencher", "-o", str(path)) == 0
    measures = json.loads(path.read_text())["e0/row"]
    assert set(measures) == {"latency", "flops", "peak-bytes"}
    ns = measures["latency"]
    assert ns["lower_value"] <= ns["value"] <= ns["upper_value"]
    assert ns["value"] == pytest.approx(1e3 * entries["e0/row"]["value"])


def test_otava_gets_a_file_for_each_row(case: Case, tmp_path: Path) -> None:
    assert case.run("export", "otava", "-o", str(tmp_path / "otava")) == 0
    tests = json.loads((tmp_path / "otava/otava.yaml").read_text())["tests"]
    with open(tests["e0/row"]["file"], newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["commit"] for row in rows] == case.revisions
    assert all(80 < float(row["time_us"]) < 120 for row in rows)


def test_a_rewritten_history_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case(tmp_path)
    add(case.store, tmp_path, result("f" * 40, {"e0/row": [1]}, 99))
    git(case.root, "checkout", "--quiet", "-b", "short", case.revisions[37])
    case.run("check")
    out, err = capsys.readouterr()
    assert " 38 commits " in out.splitlines()[0]
    said = err.splitlines()
    assert len(said) == 3
    assert f"{'f' * 10} is not a commit here" in "".join(said)
    assert f"{case.revisions[38][:10]} is not a commit on HEAD" in "".join(said)


def test_one_commit_and_one_row_are_singular(tmp_path: Path, lines: Lines) -> None:
    store, root = Store(tmp_path / "store"), tmp_path / "repository"
    add(store, tmp_path, result(repository(root)[0], {"e/row": [1]}))
    page = tmp_path / "page.html"
    for words in (["check"], ["page", "-o", str(page)]):
        assert main([f"--store={store.folder}", f"--repository={root}", *words]) == 0
    said, *_ = lines()
    assert ", 1 commit to " in said and said.endswith(", 1 row")
    assert "<span>1 commit</span> <span>1 row</span>" in page.read_text()


def test_add_takes_what_is_a_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "a.json", result("a" * 40, {"e/row": [1]}))
    (tmp_path / "foreign.json").write_text("[1]")
    assert main([f"--store={tmp_path / 'store'}", "add", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 1 and "foreign.json" in err


def test_explain_names_what_differs(tmp_path: Path, case: Case, lines: Lines) -> None:
    def side(name: str, calls: int, us: float, kept: int) -> str:
        kernel = {"phase": "backward", "name": "aten::mm", "family": "gemm"}
        times = dict.fromkeys(("mean", "median", "min", "max", "stddev"), 1)
        time = {"total": us, "totals": [us, us + 1], **times}
        tensors = {
            **dict.fromkeys(("component", "phase", "layers"), ""),
            **{"operator": "aten::add", "shape": "4", "dtype": "float"},
            **{"count": 1, "bytes": kept, "total_bytes": kept},
        }
        profile = {"case": "e/row", "passes": 2, "of": "operators", "ranges": []}
        profile |= {"kernels": [{**kernel, "instances": calls, "time_us": time}]}
        memory = {"case": "e/row", "allocations": [], "at_peak": [tensors]}
        content = result(
            "a" * 40,
            {"e/row": [1], f"e/{name}": [1]},
            counters={"flops": calls},
            profiles=[{**profile, "copies": []}],
            memory=[memory],
        )
        return str(write(tmp_path / name, content))

    sides = (side("a", 2, 100, 1 << 20), side("b", 4, 110, 3 << 20))
    assert case.run("explain", *sides) == 0
    assert [line.strip() for line in lines()] == [
        "e/row",
        "flops 2 FLOP -> 4 FLOP (WORSE)",
        "+10 % of the step in aten::mm, backward",
        "+2 calls of aten::mm, backward",
        "+2 MiB at the peak: aten::add 4 float",
        "e/a",
        "measured only before",
        "e/b",
        "measured only after",
    ]
    assert case.run("explain", sides[0], sides[0]) == 0
    assert lines() == ["no counters, operators, kernels or tensors differ"]
    assert case.run("explain", *case.revisions[SINCE - 1 : SINCE + 1]) == 0
    assert lines()[0] == "e1/row"


def test_the_flags_of_a_result_are_those_that_select_its_rows() -> None:
    command = (
        "/my Mac's/trainbench --suite=full --benchmark_out=a x.json --processes 6 "
        "--seq 64 --samples_out=y --benchmark_filter=^a --threads=1 "
        "--benchmark_min_time=0.1 --trace=dir"
    )
    assert flags_of(command) == ["--suite=full", "--seq=64", "--threads=1"]


WRONG = """
    --alpha=2 check; check --branch=none; --branch=none check; --store=missing check;
    --repository=missing check; explain HEAD missing;
    bisect e0/row HEAD HEAD; bisect none HEAD~1 HEAD; confirm --most=-1"""


def test_wrong_usage(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    found = refusals(lambda words: case.run(*words), WRONG, capsys)
    said = {
        line: words.replace(str(case.root), "HERE") for line, words in found.items()
    }
    check_golden("errors/history.txt", said)
