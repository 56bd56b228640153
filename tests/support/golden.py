# SPDX-License-Identifier: MIT
"""Compares the output of a tool with a file in tests/data/printed.

With TRAINBENCH_WRITE_GOLDENS=1 in the environment a test writes its file.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from reports.command import status_of

FOLDER = Path(__file__).resolve().parents[1] / "data/printed"


def check_golden(name: str, printed: Mapping[str, str]) -> None:
    """`printed` maps each case to its output."""
    parts = [f"=== {case}\n{text.rstrip()}\n" for case, text in printed.items()]
    path = FOLDER / name
    if os.environ.get("TRAINBENCH_WRITE_GOLDENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(parts), encoding="utf-8")
    assert "\n".join(parts) == path.read_text(encoding="utf-8")


def refusals(
    run: Callable[[list[str]], Any],
    commands: str,
    captured: pytest.CaptureFixture[str],
    program: str = "",
) -> dict[str, str]:
    """Returns the last line that each of these commands says, which semicolons
    separate. Each must end with exit status 2 and print nothing else."""
    found = {}
    for command in (" ".join(one.split()) for one in commands.split(";")):
        try:
            status: object = status_of(program, run, command.split())
        except SystemExit as end:  # of argparse
            status = end.code
        out, err = captured.readouterr()
        assert (status, out) == (2, ""), command
        found[command] = err.splitlines()[-1]
    return found
