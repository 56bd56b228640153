# SPDX-License-Identifier: MIT
"""The processes that a test started on this machine."""

import os
import time
from collections.abc import Callable
from pathlib import Path


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # the process has ended
        return b""


def ranks_in(directory: Path) -> list[int]:
    """Returns the pids of rank processes that run in `directory`."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or b"TRAINBENCH_STORE=" not in _read(
            entry / "environ"
        ):
            continue
        try:
            if Path(os.readlink(entry / "cwd")) == directory.resolve():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return condition()
