# SPDX-License-Identifier: MIT
"""Fixtures that run tools/ab on programs that measure nothing."""

from pathlib import Path

import pytest

from fake_program import Pairs


@pytest.fixture
def pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Pairs:
    return Pairs(tmp_path, capsys)
