# SPDX-License-Identifier: MIT
"""The built program, controlled by a referee that grants turns."""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from processes import wait_until
from program import (
    NANO,
    NANO_FORWARD,
    NANO_FORWARD_NAME,
    Program,
    load,
    measured,
    names,
)

OUT = ("--benchmark_out=a.json", "--samples_out=a.jsonl")
BOTH = (*NANO, "--benchmark_filter=^model_size/nano/fp32/(forward|train_step)/")


class Started:
    """A running program that asks for turns."""

    def __init__(self, process: subprocess.Popen[str], end: socket.socket) -> None:
        self.process = process
        self._end = end
        self._heard = ""

    def question(self) -> str:
        """Returns the next question; "" once the program has ended."""
        while "\n" not in self._heard:
            text = self._end.recv(4096).decode()
            if not text:
                return ""
            self._heard += text
        line, _, self._heard = self._heard.partition("\n")
        return line

    def answer(self) -> None:
        self._end.sendall(b"t")

    def leave(self) -> None:
        self._end.close()

    def finish(self) -> tuple[int, str]:
        _, err = self.process.communicate(timeout=120)
        return self.process.returncode, err


@contextmanager
def started(program: Program, *flags: str) -> Iterator[Started]:
    ours, theirs = socket.socketpair()
    ours.settimeout(120)
    command = program.command(*OUT, *flags, f"--turns={theirs.fileno()}")
    process = subprocess.Popen(
        command,
        cwd=program.directory,
        env=program.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[theirs.fileno()],
    )
    theirs.close()
    try:
        yield Started(process, ours)
    finally:
        ours.close()
        process.kill()
        process.wait()


def test_it_asks_before_each_case_and_its_samples(trainbench: Program) -> None:
    with started(trainbench, *BOTH, "--benchmark_min_time=0.3") as program:
        questions = []
        while question := program.question():
            questions.append(question)
            program.answer()
        code, err = program.finish()
    assert code == 0, err
    document = load(trainbench.directory / "a.json")
    rows = names(measured(document))
    assert len(rows) == 2
    asked = [question for question in questions if question != "sample"]
    assert asked == [f"case {row}" for row in rows]
    lines = (trainbench.directory / "a.jsonl").read_text().splitlines()
    turns = [len(json.loads(line)["turn_us"]) for line in lines]
    assert all(count > 1 for count in turns)  # 0.3 s of device time
    assert sum(turns) == questions.count("sample")


def test_it_waits_until_it_is_answered(trainbench: Program) -> None:
    with started(trainbench, *NANO_FORWARD) as program:
        assert program.question() == f"case {NANO_FORWARD_NAME}"
        assert program.process.poll() is None
        program.answer()
        assert program.question() == "sample"
        program.process.send_signal(signal.SIGINT)
        code, err = program.finish()
    assert code == -signal.SIGINT
    assert "stopped; the results so far are in a.json" in err


def test_if_nobody_answers_any_more_it_says_so_and_ends(trainbench: Program) -> None:
    with started(trainbench, *BOTH) as program:
        program.question()
        program.answer()
        assert program.question() == "sample"
        program.leave()
        code, err = program.finish()
    assert code == 1, err
    document = load(trainbench.directory / "a.json")
    assert document["benchmarks"] == [] and len(document["errors"]) == 2
    for row in document["errors"]:
        assert "lost the connection to tools/ab" in row["reason"]


def children_of(parent: int) -> list[int]:
    """Returns the isolated cases that `parent` has started."""
    found = []
    for task in Path(f"/proc/{parent}/task").iterdir():
        for child in (task / "children").read_text().split():
            command = Path(f"/proc/{child}/cmdline")
            if b"--isolated_case" in command.read_bytes():
                found.append(int(child))
    return found


def open_files(process: int) -> set[str]:
    return {os.readlink(file) for file in Path(f"/proc/{process}/fd").iterdir()}


def test_a_child_does_not_hold_the_socket(faults: Program) -> None:
    case = "--benchmark_filter=^fault/fresh_hang$"
    with started(faults, case, "--child_timeout_seconds=60") as program:
        assert program.question() == "case fault/fresh_hang"
        own = program.process.pid
        sockets = {name for name in open_files(own) if name.startswith("socket:")}
        assert sockets
        program.answer()
        assert wait_until(lambda: bool(children_of(own)), 60)
        (child,) = children_of(own)
        assert not sockets & open_files(child)
