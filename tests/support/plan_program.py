# SPDX-License-Identifier: MIT
"""Runs tools/plan with the built program; skips a test that needs it without one."""

import contextlib
import functools
import io
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from built import built
from null_gpu import null_gpu
from reports.command import status_of
from tools.planner.main import main
from tools.planner.program import Json, Program
from tools.planner.recipes import read_table
from tools.planner.validation.cells import DATA


@functools.cache
def program(gpu: str = "") -> Program:
    """On a null GPU, if one is named."""
    env = os.environ | (null_gpu(gpu) if gpu else {})
    return Program(built("TRAINBENCH_PLAN"), env)


def ask(request: Json) -> Json:
    """Starts the program when a test needs it."""
    return program()(request)


def run(
    *flags: str, command: Callable[..., int] = main, ask: Callable[..., Any] = ask
) -> subprocess.CompletedProcess[str]:
    def called(tokens: list[str]) -> int:
        return command(tokens, ask)

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = status_of("tools/plan", called, [*flags]) or 0
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


def plan_json(*flags: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(plan(*flags, "--json"))
    return document


def plan_row(*flags: str) -> dict[str, Any]:
    """Returns the only row of a plan."""
    rows: list[dict[str, Any]] = plan_json(*flags)["rows"]
    (row,) = rows
    return row


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


def table(path: Path, *rows: dict[str, str]) -> Path:
    """Writes rows as a table for tools/validate."""
    lines = (rows[0], *(row.values() for row in rows))
    path.write_text("\n".join(map("\t".join, lines)))
    return path


def by_hand_file(tmp_path: Path, **cells: str) -> Path:
    """Writes the first committed row with other cells."""
    row = read_table(DATA / "points.tsv")[0] | cells
    return table(tmp_path / "points.tsv", row)
