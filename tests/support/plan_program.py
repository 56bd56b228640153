# SPDX-License-Identifier: MIT
"""The built program behind tools/plan."""

import functools
import json
import os
import subprocess

import pytest

PLAN = os.environ.get("TRAINBENCH_PLAN", "")
needs_plan = pytest.mark.skipif(
    not PLAN, reason="TRAINBENCH_PLAN does not name the built program"
)


@functools.cache
def _requests() -> subprocess.Popen[str]:
    program = os.environ["TRAINBENCH_PLAN_REQUESTS"]
    pipe = subprocess.PIPE
    return subprocess.Popen([program], stdin=pipe, stdout=pipe, text=True)


def run(*flags: str) -> subprocess.CompletedProcess[str]:
    """As the program would end, without its start, which takes longest."""
    requests = _requests()
    assert requests.stdin and requests.stdout
    print(json.dumps(flags), file=requests.stdin, flush=True)
    answer = requests.stdout.readline()
    assert answer, f"the program has died of {flags}"
    return subprocess.CompletedProcess(flags, *json.loads(answer))


@functools.cache
def plan(*flags: str) -> str:
    """The output of a successful run."""
    result = run(*flags)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def check_usage_error(
    result: subprocess.CompletedProcess[str], words: list[str]
) -> None:
    """Exit status 2, nothing on stdout and one line on stderr that has `words`."""
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("tools/plan: ")
    assert result.stderr.count("\n") == 1 and result.stderr.endswith("\n")
    for word in words:
        assert word in result.stderr
