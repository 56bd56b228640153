# SPDX-License-Identifier: MIT
"""Runs commands, and waits for what they do."""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

Finished = subprocess.CompletedProcess[str]
Started = AbstractContextManager[subprocess.Popen[str]]


def run(
    *command: str | Path,
    status: int | None = 0,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    preexec: Callable[[], None] | None = None,
) -> Finished:
    """Runs a command that sees only these variables, and a PATH. It must end with this
    exit status, if any is given."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", **(env or {})},
        preexec_fn=preexec,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,  # long, as the machine may be busy
        check=False,
    )
    assert status in (None, done.returncode), done.stdout + done.stderr
    return done


@contextmanager
def started(
    *command: str | Path,
    cwd: Path,
    env: Mapping[str, str],
    stdout: int = subprocess.PIPE,
) -> Iterator[subprocess.Popen[str]]:
    """Starts a command in a new session, and kills it in the end."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(process: subprocess.Popen[str], words: str) -> str:
    """Returns what the process writes to stderr up to the line with these words."""
    assert process.stderr is not None
    seen = ""
    while words not in seen:
        line = process.stderr.readline()
        assert line, f"ended without {words!r}: {seen}"
        seen += line
    return seen


def is_running(pid: str) -> bool:
    """Whether the process exists and has not ended."""
    try:
        return "State:\tZ" not in Path("/proc", pid, "status").read_text()
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], seconds: float = 300) -> bool:
    """Waits for the condition, and returns whether it came true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()
