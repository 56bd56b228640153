# SPDX-License-Identifier: MIT
"""Runs Google Benchmark's own compare.py."""

import contextlib
import importlib.util
import io
import json
import os
import runpy
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from program import Json, Program


@dataclass(frozen=True)
class Compared:
    code: int
    out: str
    report: list[Json]  # the output of --dump_to_json

    def lines(self, name: str) -> list[list[str]]:
        words = [line.split() for line in self.out.splitlines() if line]
        # A filter in brackets contains spaces.
        size = len(name.split())
        return [found for found in words if found[:size] == name.split()]


def compare_script() -> Path:
    found = Path("/usr/share/benchmark/compare.py")
    if not found.exists():
        pytest.skip("compare.py is missing (package libbenchmark-tools)")
    for module in ("numpy", "scipy"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"compare.py needs the Python package {module}")
    return found


def compare(program: Program, *arguments: str) -> Compared:
    """Runs in this process, since importing scipy takes longer than everything else."""
    report = program.directory / "report.json"
    report.unlink(missing_ok=True)
    script = compare_script()
    printed = io.StringIO()
    # The directory for a binary's output, which remains there after a failure.
    folder = mock.patch.object(tempfile, "tempdir", str(program.directory))
    argv = [str(script), "--no-color", "--dump_to_json=report.json", *arguments]
    with (
        contextlib.chdir(program.directory),
        contextlib.redirect_stdout(printed),
        mock.patch.object(sys, "argv", argv),
        mock.patch.object(sys, "path", [str(script.parent), *sys.path]),
        mock.patch.dict(os.environ, program.environment(), clear=True),
        folder,
    ):
        code = _run(script)
    written = json.loads(report.read_text()) if report.exists() else []
    return Compared(code, printed.getvalue(), written)


def _run(script: Path) -> int:
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as end:
        assert end.code is None or isinstance(end.code, int), end.code
        return end.code or 0
    return 0
