# SPDX-License-Identifier: MIT
"""The visible output: the table, the other formats, the list, the progress."""

import csv
import io
import json
import os
import pty
import re
import subprocess

from program import NANO, NANO_FORWARD, NANO_FORWARD_NAME, Program

ALL_NANO = (*NANO, "--benchmark_filter=^model_size/")


def case_lines(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.startswith("model_size/")]


def test_the_table_is_aligned_and_has_units(trainbench: Program) -> None:
    done = trainbench.run(*ALL_NANO)
    assert done.code == 0
    lines = done.out.splitlines()
    assert re.match(r"git_revision: \w+ +suite: smoke +threads: 1 +device: ", lines[0])
    (heading,) = (line for line in lines if line.startswith("case "))
    rows = case_lines(done.out)
    assert len(rows) == 6
    # Columns of numbers are aligned with the ends of their headings.
    for column in ("time", "fwd/loss/bwd/comm/opt %", "rate", "peak mem", "predicted"):
        end = heading.index(column) + len(column)
        assert all(len(row) >= end and row[end - 1] != " " for row in rows)
        assert all(row[end : end + 1] in ("", " ") for row in rows)
    row = re.compile(
        r"model_size/nano/\S+ +[\d.]+ (us|ms|s) +(±\S+%|-) +[\d-]+(/[\d-]+){4} +"
        r"[\d.]+ [kMGT]?FLOP/s +[\d.]+ [KM]iB +[\d.]+ [KM]iB( .*)?"
    )
    assert all(row.fullmatch(line) for line in rows)
    assert lines[-1] == "6 cases: 6 measured, 0 skipped, 0 failed"


def test_json_on_standard_output_is_the_document_alone(trainbench: Program) -> None:
    done = trainbench.run(*ALL_NANO, "--benchmark_format=json")
    assert done.code == 0
    document = json.loads(done.out)
    assert len(document["benchmarks"]) == 6
    assert document["complete"] is True


def test_csv_has_the_counters_of_every_case(trainbench: Program) -> None:
    done = trainbench.run(*ALL_NANO, "--benchmark_format=csv")
    assert done.code == 0, done.err
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert len(rows) == 6
    for row in rows:
        assert re.fullmatch(r"model_size/nano/\w+/\w+/batch:1/seq:8", row["name"])
        assert float(row["real_time"]) > 0
        assert float(row["flops"]) > 0
        assert bool(row["optimizer_us"]) == ("/train_step/" in row["name"])


def test_google_benchmarks_own_console(trainbench: Program) -> None:
    done = trainbench.run(*ALL_NANO, "--benchmark_format=console")
    assert done.code == 0
    assert "UserCounters..." in done.out
    assert len(case_lines(done.out)) == 6
    assert "manual_time" not in done.out


def test_listed_names_select_their_case(trainbench: Program) -> None:
    done = trainbench.run("--suite=smoke", "--benchmark_list_tests")
    assert done.code == 0
    assert done.err == ""
    names = done.out.splitlines()
    assert len(set(names)) == len(names) > 6
    assert all(re.fullmatch(r"[a-z0-9_]+(/[\w.:-]+)+", name) for name in names)
    for name in (names[0], names[len(names) // 2], names[-1]):
        again = trainbench.run(
            "--suite=smoke", "--benchmark_list_tests", f"--benchmark_filter=^{name}$"
        )
        assert again.out == f"{name}\n"


def test_help_has_our_flags_and_google_benchmarks(trainbench: Program) -> None:
    done = trainbench.run("--help")
    assert done.code == 0
    assert done.err == ""
    for flag in (
        "batch cpu_allocator device max_case_seconds model models peak_tflops samples "
        "samples_out seed seq "
        "suite threads warmup benchmark_filter benchmark_out benchmark_repetitions"
    ).split():
        assert f"--{flag}" in done.out


def test_progress_is_a_line_per_case_where_nobody_watches(trainbench: Program) -> None:
    done = trainbench.run(*ALL_NANO)
    lines = done.err.splitlines()
    assert len(lines) == 6
    for number, line in enumerate(lines, start=1):
        assert re.fullmatch(
            rf"\[{number}/6\] \d+:\d\d elapsed(, about \d+:\d\d left)?"
            r"  model_size/\S+",
            line,
        )


def test_what_a_first_visit_found_is_shown(trainbench: Program) -> None:
    done = trainbench.run(*NANO_FORWARD, "--rounds=2")
    found = re.findall(r"^(\S+): [\d.]+ [mu]?s in its first visit$", done.err, re.M)
    assert found == [NANO_FORWARD_NAME]


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
    assert re.match(r"\r\[1/1\] \d+:\d\d elapsed", err)
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
