# SPDX-License-Identifier: MIT
"""The two programs, each in an empty directory."""

from pathlib import Path

import pytest

from built import built
from program import Program


@pytest.fixture
def trainbench(tmp_path: Path) -> Program:
    return Program(built("TRAINBENCH_BINARY"), tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """trainbench in a directory that the tests of a module share."""
    return Program(built("TRAINBENCH_BINARY"), tmp_path_factory.mktemp("shared"))


@pytest.fixture
def faults(tmp_path: Path) -> Program:
    return Program(built("TRAINBENCH_FAULTS"), tmp_path)
