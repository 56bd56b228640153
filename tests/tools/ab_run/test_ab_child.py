# SPDX-License-Identifier: MIT
"""An interrupted child ends together with every process that it started."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from processes import is_running, wait_until
from stub_checkout import write_script
from tools.ab_run.child import Child, interruptible, run_children, run_limited
from tools.ab_run.errors import Interrupted


def run(script: str, directory: Path, limited: bool = False) -> int | None:
    path = directory / "script"
    write_script(path, f"#!/bin/sh\n{script}\n")
    with interruptible(), (directory / "output").open("wb") as output:
        child = Child([path], output, output, directory=directory)
        if limited:
            return run_limited(child, 600)
        (found,) = run_children([child])
        return found.status


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_during_the_start_ends_a_whole_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, limited: bool
) -> None:
    pids = tmp_path / "pids"

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            assert wait_until(lambda: pids.exists() and pids.read_text() != "")
            os.kill(os.getpid(), number)

    monkeypatch.setattr(subprocess, "Popen", Popen)
    script = "sleep 600 & echo $$ $! >pids; wait; echo late"
    with pytest.raises(Interrupted) as raised:
        run(script, tmp_path, limited)
    assert raised.value.status == 128 + number
    assert wait_until(lambda: not any(map(is_running, pids.read_text().split())))
    assert (tmp_path / "output").read_text() == ""


def test_an_interrupted_program_may_finish(tmp_path: Path) -> None:
    script = f"""
    trap 'heard=yes' INT
    kill -2 {os.getpid()}
    until [ "$heard" ]; do sleep 0.1; done
    for i in 1 2 3 4 5; do sleep 0.2; done
    echo done"""
    with pytest.raises(Interrupted):
        run(script, tmp_path)
    assert (tmp_path / "output").read_text() == "done\n"


def test_a_second_interrupt_does_not_wait(tmp_path: Path) -> None:
    script = f"""
    trap '' INT
    kill -2 {os.getpid()}
    sleep 0.5
    kill -15 {os.getpid()}
    sleep 600
    echo late"""
    started = time.monotonic()
    with pytest.raises(Interrupted) as raised:
        run(script, tmp_path)
    assert raised.value.status == 143
    assert time.monotonic() - started < 300
    assert (tmp_path / "output").read_text() == ""


def test_the_handlers_are_put_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    run("exit 0", tmp_path)
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_hang_up_that_is_ignored_stays_so(tmp_path: Path) -> None:
    """Behaves like a process started by nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        script = f"kill -1 {os.getpid()}; sleep 0.5; exit 3"
        assert run(script, tmp_path) == 3
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_cannot_be_started(tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as output, interruptible():
        with pytest.raises(FileNotFoundError):
            run_children([Child([tmp_path / "none"], output, output)])
        with pytest.raises(Interrupted):  # signals are delivered again
            os.kill(os.getpid(), signal.SIGINT)
