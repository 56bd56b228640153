# SPDX-License-Identifier: MIT
"""The GPU's clocks, power and temperature, as nvidia-smi reports them."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SECONDS = 10
_QUERY = (
    "clocks.sm,clocks.mem,power.draw,temperature.gpu,clocks_event_reasons.active,"
    "utilization.gpu,memory.used"
)


def clocks() -> str:
    """The current clocks; "" without nvidia-smi."""
    try:
        return subprocess.run(
            ["nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv,noheader"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        ).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


@contextmanager
def watched(log: Path) -> Iterator[None]:
    """Logs a line every 5 s. This also keeps the driver loaded between processes."""
    if shutil.which("nvidia-smi") is None:
        yield
        return
    with log.open("ab") as file:
        process = subprocess.Popen(
            ["nvidia-smi", "dmon", "-d", "5", "-s", "pucm", "-o", "T"],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait()
