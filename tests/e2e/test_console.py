# SPDX-License-Identifier: MIT
"""Output that needs the whole program: CSV of all rows, and progress on a terminal."""

import csv
import io
import os
import pty
import re
import subprocess

from program import NANO, NANO_FORWARD, NANO_FORWARD_NAME, Program

ALL_NANO = (*NANO, "--benchmark_filter=^model_size/")


def case_lines(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.startswith("model_size/")]


def test_csv_has_the_counters_of_every_case(trainbench: Program) -> None:
    done = trainbench.run(*ALL_NANO, "--benchmark_format=csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 6
    for row in rows:
        assert re.fullmatch(r"model_size/nano/\w+/\w+/batch:1/seq:8", row["name"])
        assert float(row["real_time"]) > 0
        assert bool(row["optimizer_us"]) == ("/train_step/" in row["name"])


def test_progress_rewrites_one_line_on_a_terminal(trainbench: Program) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        trainbench.command(*NANO_FORWARD),
        cwd=trainbench.directory,
        env=trainbench.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        assert process.stdout is not None
        out = process.stdout.read().decode()
        err = read_all(ours)
    assert process.returncode == 0
    assert case_lines(out)
    assert "\033" not in out  # the table went to a pipe
    assert "\n" not in err
    assert NANO_FORWARD_NAME in err
    assert err.endswith("\r\033[K")
    for stage in ("build", "check", "sampling", "memory"):
        assert f"  {stage}\033[K" in err


def read_all(descriptor: int) -> str:
    """Reads a terminal's output until the other end is closed."""
    text = b""
    try:
        while block := os.read(descriptor, 4096):
            text += block
    except OSError:
        pass  # Linux reports the closed end like this
    os.close(descriptor)
    return text.decode()
