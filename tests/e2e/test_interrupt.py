# SPDX-License-Identifier: MIT
"""Signals: whenever they arrive, the results so far are on disk and readable."""

import json
import random
import re
import signal
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from program import NANO, Program, binary, load, names

POLITE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FILES = ("--benchmark_out=a.json", "--samples_out=a.jsonl")
# About the time from the program's start to the end of the run.
LONGEST = 2.0


@dataclass(frozen=True)
class ChildExit:
    sent: signal.Signals
    code: int
    err: str
    directory: Path

    def files(self) -> set[str]:
        return {path.name for path in self.directory.iterdir()}


def interrupt_at(
    program: Program, sent: signal.Signals, line: str, *flags: str
) -> ChildExit:
    """Sends the signal shortly after `line` appeared on standard error."""
    process = program.start(*FILES, *flags)
    assert process.stderr is not None
    try:
        seen = ""
        while line not in seen:
            text = process.stderr.readline()
            assert text, f"ended without {line!r}: {seen}"
            seen += text
        time.sleep(0.05)
        process.send_signal(sent)
        _, rest = process.communicate(timeout=600)
        return ChildExit(sent, process.returncode, seen + rest, program.directory)
    finally:
        process.kill()


def interrupt_after(
    program: Program, sent: signal.Signals, seconds: float, *flags: str
) -> ChildExit:
    process = program.start(*FILES, *flags)
    try:
        time.sleep(seconds)
        process.send_signal(sent)
        _, err = process.communicate(timeout=600)
        return ChildExit(sent, process.returncode, err, program.directory)
    finally:
        process.kill()


def directories(parent: Path, prefix: str, keys: Iterable[object]) -> list[Path]:
    made = [parent / f"{prefix}-{key}" for key in keys]
    for directory in made:
        directory.mkdir()
    return made


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
        assert all("samples_us" in json.loads(line) for line in text.splitlines())


def test_a_signal_while_a_case_runs(tmp_path: Path) -> None:
    path = binary("TRAINBENCH_FAULTS")
    flags = (
        "--benchmark_filter=/(good|hang)",
        "--benchmark_min_time=0.001",
        "--warmup=1",
    )
    signals = (*POLITE, signal.SIGKILL)
    with ThreadPoolExecutor(max_workers=2) as pool:
        all_ended = list(
            pool.map(
                lambda sent, directory: interrupt_at(
                    Program(path, directory), sent, "fault/hang", *flags
                ),
                signals,
                directories(tmp_path, "hang", [s.name for s in signals]),
            )
        )
    for ended in all_ended:
        assert ended.code == -ended.sent
        assert_readable(ended)
        document = load(ended.directory / "a.json")
        assert names(document["benchmarks"]) == ["fault/good/n:0"]
        assert document["complete"] is False
        lines = (ended.directory / "a.jsonl").read_text().splitlines()
        assert [json.loads(line)["name"] for line in lines] == ["fault/good/n:0"]
        if ended.sent != signal.SIGKILL:
            assert re.search(r"results so far are in a\.json\n\Z", ended.err)


def test_a_signal_at_any_moment(tmp_path: Path) -> None:
    path = binary("TRAINBENCH_BINARY")
    chance = random.Random(20)
    signals = [chance.choice([*POLITE, signal.SIGKILL]) for _ in range(10)]
    moments = [chance.uniform(0, LONGEST) for _ in signals]
    flags = (*NANO, "--benchmark_filter=^model_size/", "--benchmark_min_time=0.1")
    with ThreadPoolExecutor(max_workers=2) as pool:
        all_ended = list(
            pool.map(
                lambda sent, seconds, directory: interrupt_after(
                    Program(path, directory), sent, seconds, *flags
                ),
                signals,
                moments,
                directories(tmp_path, "random", range(len(signals))),
            )
        )
    for ended in all_ended:
        # Unless the run had already ended.
        assert ended.code in (-ended.sent, 0), ended.err
        assert_readable(ended)
        polite_end = ended.code != 0 and ended.sent != signal.SIGKILL
        # Before the first row begins, there may be no file yet.
        if polite_end and "elapsed" in ended.err:
            assert "the results so far are in a.json" in ended.err


def test_a_signal_without_a_result_file(faults: Program) -> None:
    process = faults.start("--benchmark_filter=/slow", "--benchmark_min_time=60")
    assert process.stderr is not None
    try:
        while "fault/slow" not in process.stderr.readline():
            pass
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=600)
    finally:
        process.kill()
    assert process.returncode == -signal.SIGINT
    assert err == "\ntrainbench: stopped\n"
    assert list(faults.directory.iterdir()) == []
