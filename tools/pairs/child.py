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

from tools.pairs.errors import Interrupted

GRACE_S = 60.0  # for the program to end a case and write its file
POLL_S = 0.2
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Turns the signals that ask for an end into Interrupted."""

    def interrupt(number: int, _frame: FrameType | None) -> None:
        raise Interrupted(number)

    before = {one: signal.signal(one, interrupt) for one in SIGNALS}
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


def _stop(process: subprocess.Popen[bytes], whole_group: bool) -> None:
    """Politely; after the grace time, or at a second interrupt, with force."""
    with contextlib.suppress(ProcessLookupError):
        if whole_group:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)


def _wait(
    process: subprocess.Popen[bytes], tick: Callable[[float], None], started: float
) -> int:
    while True:
        try:
            return process.wait(POLL_S)
        except subprocess.TimeoutExpired:
            tick(time.monotonic() - started)


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
        status = _wait(process, tick, started)
    except BaseException:
        try:
            _stop(process, whole_group)
        finally:
            _kill(process)
        raise
    return Ended(status, time.monotonic() - started)
