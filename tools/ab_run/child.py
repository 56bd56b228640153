# SPDX-License-Identifier: MIT
"""Child processes that an interrupt stops in an orderly way."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

from tools.ab_run.errors import Interrupted

GRACE_S = 60.0  # for the orderly end of a build or a program
POLL_S = 0.2
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Interrupts:
    """A signal handler that raises Interrupted: at once or, while held, in check()."""

    def __init__(self) -> None:
        self._holding = False
        self._number: int | None = None

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        if not self._holding:
            raise Interrupted(number)
        self._number = number

    def check(self) -> None:
        number, self._number = self._number, None
        if number is not None:
            raise Interrupted(number)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        self._holding = True
        try:
            yield
        finally:
            self._holding = False


_interrupts = _Interrupts()


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Raises Interrupted for signals that ask the process to end.

    A signal that the process ignored from the start, e.g. under nohup, stays ignored.
    """
    heeded = [s for s in SIGNALS if signal.getsignal(s) != signal.SIG_IGN]
    before = {s: signal.signal(s, _interrupts) for s in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass(frozen=True)
class Child:
    """A child process to start."""

    command: Sequence[str | Path]
    output: IO[bytes] | int
    errors: IO[bytes]
    environment: Mapping[str, str] | None = None
    directory: Path | None = None
    inherited: Sequence[int] = ()  # open files

    def start(self, has_session: bool = True) -> subprocess.Popen[bytes]:
        """Starts it in a session of its own, or else in a process group of its own, so
        that Ctrl-C reaches it only through this process."""
        return subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.errors,
            env=self.environment,
            cwd=self.directory,
            pass_fds=self.inherited,
            start_new_session=has_session,
            process_group=None if has_session else 0,
        )


@dataclass(frozen=True)
class ChildExit:
    status: int  # negative: killed by this signal
    seconds: float
    stopped: bool = False  # by us, because another child had died


def _send(process: subprocess.Popen[bytes], number: int) -> None:
    """Sends a signal to the child and its descendants, which share a process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _kill(process: subprocess.Popen[bytes]) -> None:
    _send(process, signal.SIGKILL)
    process.wait()


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether the child exits within this time. Errors: Interrupted."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) >= 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(min(left, POLL_S))
            return True
        _interrupts.check()
    return False


def _running(processes: Sequence[subprocess.Popen[bytes]]) -> list[int]:
    return [n for n, process in enumerate(processes) if process.poll() is None]


def _stop_all(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Sends SIGINT to the groups of the running children until they have ended, or the
    grace time is over. A shell that is about to start a command can miss a signal."""
    end = time.monotonic() + GRACE_S
    try:
        while (running := _running(processes)) and time.monotonic() < end:
            for number in running:
                _send(processes[number], signal.SIGINT)
            _has_ended(processes[running[0]], POLL_S)
    finally:
        for process in processes:
            _kill(process)


def run_children(
    children: Sequence[Child],
    *,
    attend: Callable[[float], bool] | None = None,
    tick: Callable[[float], None] = lambda _seconds: None,
) -> list[ChildExit]:
    """Runs children at the same time until all have ended, or one dies of a signal.

    Repeatedly calls `attend`, which serves the children for at most the given seconds
    or returns False if nothing is to be done, and `tick` with the elapsed seconds.

    Errors: OSError, if a child cannot start; Interrupted, after the children have
    stopped.
    """
    started = time.monotonic()
    processes: list[subprocess.Popen[bytes]] = []
    # An exception inside Popen would lose the child, and one inside wait() its lock. So
    # interrupts are held, and raised by check().
    with _interrupts.held():
        try:
            for child in children:
                processes.append(child.start())
                _interrupts.check()
            while running := _running(processes):
                if any((process.returncode or 0) < 0 for process in processes):
                    break
                if attend and attend(POLL_S):
                    _interrupts.check()
                else:
                    _has_ended(processes[running[0]], POLL_S)
                tick(time.monotonic() - started)
            stopped = _running(processes)
            if stopped:
                _stop_all(processes)
        except BaseException:
            _stop_all(processes)
            raise
        seconds = time.monotonic() - started
    _interrupts.check()
    return [
        ChildExit(process.returncode, seconds, number in stopped)
        for number, process in enumerate(processes)
    ]


def run_limited(child: Child, seconds: float, grace: float = 0) -> int | None:
    """Runs a child and returns its status. After these seconds it gets SIGTERM and,
    after the grace time, is killed with its descendants; then there is no status.

    It also ends with the session of this process, e.g. on a machine that is lent.
    Errors: OSError, if it cannot start; Interrupted, after it was killed.
    """
    with _interrupts.held():
        process = child.start(has_session=False)
        try:
            ended = _has_ended(process, seconds)
            if not ended:
                _send(process, signal.SIGTERM)
                _has_ended(process, grace)
        finally:
            _kill(process)
    _interrupts.check()
    return process.returncode if ended else None
