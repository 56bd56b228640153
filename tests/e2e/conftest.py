# SPDX-License-Identifier: MIT
"""The two programs, each in an empty directory, and tools/rehearse with the first."""

import json
from pathlib import Path

import pytest

from built import built
from null_gpu import library
from program import Json, Program, Rehearse
from tools.rehearsal.main import main


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


@pytest.fixture
def rehearse(trainbench: Program, capsys: pytest.CaptureFixture[str]) -> Rehearse:
    """Returns a function from flags of tools/rehearse to the cases of its run."""

    def cases_of(*flags: str) -> list[Json]:
        status = main(["--json", *flags], trainbench.path, library())
        found = capsys.readouterr()
        assert status == 0, found.err
        cases: list[Json] = json.loads(found.out)["cases"]
        return cases

    return cases_of
