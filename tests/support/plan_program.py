# SPDX-License-Identifier: MIT
"""The built program behind tools/plan, started as a user starts it."""

import functools
import os
import subprocess

import pytest

PLAN = os.environ.get("TRAINBENCH_PLAN", "")
needs_plan = pytest.mark.skipif(
    not PLAN, reason="TRAINBENCH_PLAN does not name the built program"
)


def run(*flags: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PLAN, *flags], capture_output=True, text=True, timeout=600)


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
