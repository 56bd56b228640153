# SPDX-License-Identifier: MIT
"""What was built: variables of the environment, which CMake sets, name it."""

import os
from pathlib import Path

import pytest


def built(variable: str) -> Path:
    """Returns the program or folder that the variable names; skips the test if none."""
    path = os.environ.get(variable)
    if not path:
        pytest.skip(f"{variable} names nothing that was built")
    return Path(path).resolve(strict=True)
