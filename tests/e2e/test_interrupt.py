# SPDX-License-Identifier: MIT
"""Signals: whenever they arrive, the results so far are on disk and readable."""

import json
import random
import signal
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from built import built
from processes import wait_for
from program import FAST, NANO, OUT, SAMPLES, Program, load, load_lines, names

POLITE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# About the time from the program's start to the end of the run.
LONGEST = 2.0


@dataclass(frozen=True)
class ChildExit:
    sent: signal.Signals
    code: int
    out: str
    err: str
    directory: Path

    def files(self) -> set[str]:
        return {path.name for path in self.directory.iterdir()}


def interrupt(
    program: Program, sent: signal.Signals, moment: float | str, *flags: str
) -> ChildExit:
    """Sends the signal after so many seconds, or shortly after this text on stderr."""
    with program.started(*flags, stdout=subprocess.PIPE) as process:
        seen = ""
        if isinstance(moment, str):
            seen, moment = wait_for(process, moment), 0.05
        time.sleep(moment)
        process.send_signal(sent)
        out, rest = process.communicate(timeout=600)
        return ChildExit(sent, process.returncode, out, seen + rest, program.directory)


def interrupt_each(
    path: Path,
    parent: Path,
    when: Sequence[tuple[signal.Signals, float | str]],
    *flags: str,
) -> list[ChildExit]:
    """Interrupts so many runs, two at a time, each in a directory of its own."""

    def one(number: int) -> ChildExit:
        directory = parent / str(number)
        directory.mkdir()
        return interrupt(Program(path, directory), *when[number], OUT, SAMPLES, *flags)

    with ThreadPoolExecutor(max_workers=2) as pool:
        return list(pool.map(one, range(len(when))))


def assert_readable(ended: ChildExit) -> None:
    """All files are readable, and there are no others."""
    allowed = {"a.json", "a.jsonl"}
    if ended.sent == signal.SIGKILL:
        allowed.add("a.json.tmp")
    assert ended.files() <= allowed
    if "a.json" in ended.files():
        assert load(ended.directory / "a.json").keys() >= {
            "context",
            "benchmarks",
            "skipped",
            "errors",
            "complete",
        }
    if "a.jsonl" in ended.files():
        text = (ended.directory / "a.jsonl").read_text()
        assert text == "" or text.endswith("\n")
        lines = load_lines(ended.directory / "a.jsonl")
        assert all("samples_us" in line for line in lines)


def test_a_signal_while_a_case_runs(tmp_path: Path) -> None:
    all_ended = interrupt_each(
        built("TRAINBENCH_FAULTS"),
        tmp_path,
        [(sent, "fault/hangs") for sent in (*POLITE, signal.SIGKILL)],
        *("--benchmark_filter=/(good|hangs)", *FAST),
    )
    for ended in all_ended:
        assert ended.code == -ended.sent
        assert_readable(ended)
        document = load(ended.directory / "a.json")
        assert names(document["benchmarks"]) == ["fault/good/n:0"]
        assert document["complete"] is False
        assert names(load_lines(ended.directory / "a.jsonl")) == ["fault/good/n:0"]
        if ended.sent != signal.SIGKILL:
            assert ended.err.endswith(
                "; the results so far are in a.json; the same flags with "
                "--resume=a.json continue\n"
            )


def test_a_format_that_ends_with_the_run_loses_its_rows(tmp_path: Path) -> None:
    program = Program(built("TRAINBENCH_FAULTS"), tmp_path)
    flags = ("--benchmark_filter=/(good|hangs)", "--benchmark_format=csv", *FAST)
    ended = interrupt(program, signal.SIGINT, "fault/hangs", *flags)
    assert ended.out == ""
    assert ended.err.endswith("nothing was printed: --benchmark_out keeps rows\n")


def test_a_signal_at_any_moment(tmp_path: Path) -> None:
    chance = random.Random(20)
    signals = [chance.choice([*POLITE, signal.SIGKILL]) for _ in range(10)]
    all_ended = interrupt_each(
        built("TRAINBENCH_BINARY"),
        tmp_path,
        [(sent, chance.uniform(0, LONGEST)) for sent in signals],
        *(*NANO, "--benchmark_filter=^model_size/", "--benchmark_min_time=0.1"),
    )
    for ended in all_ended:
        # Unless the run had already ended.
        assert ended.code in (-ended.sent, 0), ended.err
        assert_readable(ended)
        polite_end = ended.code != 0 and ended.sent != signal.SIGKILL
        # Before the first row begins, there may be no file yet.
        if polite_end and "elapsed" in ended.err:
            assert "the results so far are in a.json" in ended.err


def test_nohup_lets_a_run_outlive_its_terminal(faults: Program) -> None:
    slow = ("--benchmark_filter=/slow", "--benchmark_min_time=60")
    with faults.started(*slow, prefix=("nohup",)) as process:
        wait_for(process, "fault/slow")
        for sent in (signal.SIGHUP, signal.SIGTERM):
            time.sleep(0.05)
            process.send_signal(sent)
        process.communicate(timeout=600)
        assert process.returncode == -signal.SIGTERM


def test_a_signal_without_a_result_file(faults: Program) -> None:
    slow = ("--benchmark_filter=/slow", "--benchmark_min_time=60")
    ended = interrupt(faults, signal.SIGINT, "fault/slow", *slow)
    assert ended.code == -signal.SIGINT
    assert ended.err.endswith("\ntrainbench: stopped\n")
    assert ended.files() == set()


def test_rounds_that_are_stopped_keep_the_rows_so_far(tmp_path: Path) -> None:
    """The five cases have a first visit each, then visits together."""
    program = Program(built("TRAINBENCH_BINARY"), tmp_path)
    flags = ("--benchmark_filter=^accumulation/", "--rounds=3", OUT, SAMPLES)
    ended = interrupt(program, signal.SIGTERM, "[6/7]", *flags)
    assert ended.code == -signal.SIGTERM
    assert_readable(ended)
    document = load(tmp_path / "a.json")
    assert len(document["benchmarks"]) == 5 and document["complete"] is False
    assert len(load_lines(tmp_path / "a.jsonl")) == 5
    assert {row["visits"] for row in document["benchmarks"]} == {2}
    for flag in ("--benchmark_format=json", "--benchmark_out=/dev/stdout"):
        ended = interrupt(program, signal.SIGINT, "[6/7]", *flags[:2], flag)
        found = json.loads(ended.out[ended.out.index('{\n  "context') :])
        assert len(found["benchmarks"]) == 5 and found["complete"] is False


def test_processes_that_are_stopped_keep_rows_and_tables(tmp_path: Path) -> None:
    program = Program(built("TRAINBENCH_BINARY"), tmp_path)
    flags = ("--benchmark_filter=^memory/", "--processes=3", *NANO, OUT)
    interrupt(program, signal.SIGINT, "[3/3]", *flags)
    document = load(tmp_path / "a.json")
    kept = sum(row["run_type"] == "iteration" for row in document["benchmarks"])
    assert kept in (2, 3) and document["complete"] is (kept == 3)
    assert len(document["memory"]) == 1


def test_a_second_signal_does_not_wait(faults: Program) -> None:
    with faults.started("--benchmark_filter=/hangs", "--rounds=2", *FAST) as hangs:
        wait_for(hangs, "fault/hangs")
        hangs.send_signal(signal.SIGINT)
        wait_for(hangs, "a second signal ends it")
        hangs.send_signal(signal.SIGINT)
        hangs.communicate(timeout=600)
        assert hangs.returncode == -signal.SIGINT
