# SPDX-License-Identifier: MIT
"""The visible output: the table, the other formats, the help, the progress."""

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


def test_the_table_has_a_row_and_the_progress_a_line_per_case(
    trainbench: Program,
) -> None:
    done = trainbench.run(*ALL_NANO)
    lines = done.out.splitlines()
    assert re.match(r"git_revision: \w+ +suite: smoke +threads: 1 +device: ", lines[0])
    rows = case_lines(done.out)
    assert len(rows) == 6
    row = re.compile(
        r"model_size/nano/\S+ +[\d.]+ (us|ms|s) +(±\S+%|-) +[\d-]+(/[\d-]+){4} +"
        r"[\d.]+ [kMGT]?FLOP/s +[\d.]+ [KM]iB +[\d.]+ [KM]iB( .*)?"
    )
    assert all(row.fullmatch(line) for line in rows)
    assert lines[-1] == "6 cases: 6 measured, 0 skipped, 0 failed"
    progress = done.err.splitlines()
    assert len(progress) == 6
    for number, line in enumerate(progress, start=1):
        elapsed = rf"\[{number}/6\] \d+:\d\d elapsed(, about \d+:\d\d left)?"
        assert re.fullmatch(rf"{elapsed}  model_size/\S+", line)


def test_csv_has_the_counters_of_every_case(trainbench: Program) -> None:
    done = trainbench.run(*ALL_NANO, "--benchmark_format=csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert len(rows) == 6
    for row in rows:
        assert re.fullmatch(r"model_size/nano/\w+/\w+/batch:1/seq:8", row["name"])
        assert float(row["real_time"]) > 0
        assert bool(row["optimizer_us"]) == ("/train_step/" in row["name"])


def test_help_has_our_flags_the_axes_and_google_benchmarks(trainbench: Program) -> None:
    done = trainbench.run("--help")
    assert done.err == ""
    for flag in ("samples_out", "seq", "benchmark_filter"):
        assert f"--{flag}" in done.out


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
