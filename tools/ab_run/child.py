# SPDX-License-Identifier: MIT
"""Child processes that an interrupt ends in order."""

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

GRACE_S = 60.0  # for the program to end a case and write its file
POLL_S = 0.2
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Interrupts:
    """Raises Interrupted where a signal comes, or while that is held back, where
    somebody asks."""

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
    """Turns the signals that ask for an end into Interrupted.

    Not those that we were told to ignore from the start, as by nohup.
    """
    heeded = [one for one in SIGNALS if signal.getsignal(one) != signal.SIG_IGN]
    before = {one: signal.signal(one, _interrupts) for one in heeded}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@dataclass(frozen=True)
class Ended:
    status: int  # negative: the signal that it died of
    seconds: float


def _kill(process: subprocess.Popen[bytes]) -> None:
    """With all that it started: they are in a session of their own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _has_ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether it does within this time; Interrupted if that was not to be waited."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        return True
    _interrupts.check()
    return False


def _stop(process: subprocess.Popen[bytes], whole_group: bool) -> None:
    """Politely; after the grace time, or at a second interrupt, with force.

    A shell that is just about to start a command can miss a signal, so a group is
    told again and again. The program must be told once: the second time is final.
    """
    told = False
    end = time.monotonic() + GRACE_S
    while time.monotonic() < end:
        with contextlib.suppress(ProcessLookupError):
            if whole_group:
                os.killpg(process.pid, signal.SIGINT)
            elif not told:
                process.send_signal(signal.SIGINT)
        told = True
        if _has_ended(process, POLL_S):
            return


def run_child(
    command: Sequence[str | Path],
    *,
    output: IO[bytes],
    errors: IO[bytes],
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    whole_group: bool = False,
    tick: Callable[[float], None] = lambda _seconds: None,
) -> Ended:
    """Runs to the end, calling `tick` with the seconds so far now and then.

    The child is in a session of its own, so that Ctrl-C reaches it through us and
    once: the program hands it on to its own children, a build (`whole_group`) does
    not. Errors: OSError if it cannot be started; Interrupted once it is stopped.
    """
    started = time.monotonic()
    # An exception in the middle of Popen would lose the child, one in the middle of
    # its wait() a lock: interrupts come where they are asked for.
    with _interrupts.held():
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=environment,
            cwd=directory,
            start_new_session=True,
        )
        try:
            _interrupts.check()
            while not _has_ended(process, POLL_S):
                tick(time.monotonic() - started)
        except BaseException:
            try:
                _stop(process, whole_group)
            finally:
                _kill(process)
            raise
        ended = Ended(process.returncode, time.monotonic() - started)
    _interrupts.check()
    return ended
