# SPDX-License-Identifier: MIT
"""The GPU's clocks, power and temperature, as nvidia-smi reports them."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def output_of(*command: str) -> str:
    """Standard output and error, or the reason why there is none."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]}: {error}"
    return done.stdout


def queried(fields: str) -> str:
    """What nvidia-smi says of these fields, or why it says nothing; "" without it."""
    if shutil.which("nvidia-smi") is None:
        return ""
    query = (f"--query-gpu={fields}", "--format=csv,noheader")
    return output_of("nvidia-smi", *query).strip()


@contextmanager
def watched(log: Path) -> Iterator[None]:
    """Logs a line every 5 s. This also keeps the driver loaded between processes."""
    if shutil.which("nvidia-smi") is None:
        yield
        return
    with log.open("ab") as file:
        process = subprocess.Popen(
            ["nvidia-smi", "dmon", "-d", "5", "-s", "pucvm", "-o", "DT"],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait()
