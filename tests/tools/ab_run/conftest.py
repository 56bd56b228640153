# SPDX-License-Identifier: MIT
"""Fixtures that run tools/ab on programs that measure nothing."""

from pathlib import Path

import pytest

from fake_program import Pairs


@pytest.fixture
def pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Pairs:
    return Pairs(tmp_path, capsys)


@pytest.fixture(params=[False, True], ids=["alone", "in turns"])
def either(pairs: Pairs, request: pytest.FixtureRequest) -> Pairs:
    """Runs the programs one after another, and both at once in turns."""
    pairs.config["turns"] = request.param
    return pairs
