# SPDX-License-Identifier: MIT
"""The checkout in which the tests of the scripts run."""

import shutil
from pathlib import Path

import pytest

from stub_checkout import CMAKE, RECORDER, TOOLS, TRAINBENCH, Checkout, write_script


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root, stubs = tmp_path / "check out", tmp_path / "stubs"
    (root / "tools").mkdir(parents=True)
    for name in ("bench", "test", "format", "lint"):
        shutil.copy(TOOLS / name, root / "tools" / name)
    shutil.copytree(TOOLS / "lib", root / "tools" / "lib")
    (root / "CMakePresets.json").write_text("{}")
    (root / ".gitignore").write_text("/build/\n/results/\n")
    write_script(root / "tools" / "setup", "#!/bin/sh\nexit 0\n")
    write_script(root / "build/release/benchmarks/trainbench", TRAINBENCH)
    write_script(stubs / "cmake", CMAKE)
    for name in ("ctest", "clang-tidy"):
        write_script(stubs / name, RECORDER)
    return Checkout(root, stubs)
