# SPDX-License-Identifier: MIT
"""The build without CUDA's libraries, which most machines without a GPU have."""

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from processes import run
from stub_checkout import ROOT


def imports_torch(command: list[str]) -> bool:
    texts = (Path(part).read_text() for part in command if part.endswith(".py"))
    return any(re.search("^(import|from) torch\\b", text, re.M) for text in texts)


def test_a_wheel_for_the_cpu_has_every_test_but_those_that_import_torch(
    tmp_path: Path,
) -> None:
    installed = Path(sys.prefix)
    if not (installed / "pyvenv.cfg").exists():
        pytest.skip("this Python has no environment of its own")
    venv, build = tmp_path / "venv", tmp_path / "build"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/python").symlink_to(sys.executable)
    (venv / "lib").symlink_to(installed / "lib")
    shutil.copy(installed / "pyvenv.cfg", venv)
    (venv / ".trainbench-stamp").write_text("cpu 0\n")
    python = venv / "bin/python"
    run(
        *("cmake", "-G", "Ninja", "-S", ROOT, "-B", build),
        f"-DTRAINBENCH_PYTHON={python}",
        env=os.environ,
    )
    list_tests = ("ctest", "--test-dir", build, "--show-only=json-v1")
    listed = run(*list_tests, env=os.environ).stdout
    tests = json.loads(listed)["tests"]
    is_disabled = {"name": "DISABLED", "value": True}
    disabled = {one["name"] for one in tests if is_disabled in one["properties"]}
    importing = {one["name"] for one in tests if imports_torch(one.get("command", []))}
    assert importing and importing <= disabled
    # They run programs that import it.
    assert disabled - importing <= {"e2e.peers.compiled", "tools.peers.peers"}
