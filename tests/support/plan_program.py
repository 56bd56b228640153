# SPDX-License-Identifier: MIT
"""Runs tools/plan with the built program."""

import contextlib
import functools
import io
import json
import os
import subprocess
from collections.abc import Callable, Sequence

import pytest

from tools.planner.__main__ import main

PLAN = os.environ.get("TRAINBENCH_PLAN", "")
needs_plan = pytest.mark.skipif(
    not PLAN, reason="TRAINBENCH_PLAN does not name the built program"
)


@functools.cache
def _requests() -> subprocess.Popen[str]:
    program = os.environ["TRAINBENCH_PLAN_REQUESTS"]
    pipe = subprocess.PIPE
    return subprocess.Popen([program], stdin=pipe, stdout=pipe, text=True)


def ask(flags: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Returns what the program would, without the long start of a process."""
    requests = _requests()
    assert requests.stdin and requests.stdout
    print(json.dumps(flags), file=requests.stdin, flush=True)
    answer = requests.stdout.readline()
    assert answer, f"the program has died of {flags}"
    return subprocess.CompletedProcess(flags, *json.loads(answer))


def run(
    *flags: str, command: Callable[..., int] = main
) -> subprocess.CompletedProcess[str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = command(flags, ask)
        except SystemExit as end:  # of argparse
            status = int(end.code or 0)
    return subprocess.CompletedProcess(flags, status, out.getvalue(), err.getvalue())


@functools.cache
def plan(*flags: str) -> str:
    """Returns the output of a successful run."""
    result = run(*flags)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def check_usage_error(
    result: subprocess.CompletedProcess[str], words: list[str]
) -> None:
    """Checks for exit status 2, an empty stdout and one stderr line with `words`."""
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("tools/plan: ")
    assert result.stderr.count("\n") == 1 and result.stderr.endswith("\n")
    for word in words:
        assert word in result.stderr
