# SPDX-License-Identifier: MIT
"""The two programs, each in an empty directory."""

from pathlib import Path

import pytest

from program import Program, binary


@pytest.fixture
def trainbench(tmp_path: Path) -> Program:
    return Program(binary("TRAINBENCH_BINARY"), tmp_path)


@pytest.fixture
def faults(tmp_path: Path) -> Program:
    return Program(binary("TRAINBENCH_FAULTS"), tmp_path)
