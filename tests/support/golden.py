# SPDX-License-Identifier: MIT
"""Compares the output of a tool with a file in tests/data/printed.

With TRAINBENCH_WRITE_GOLDENS=1 in the environment a test writes its file.
"""

import os
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "data/printed"


def check_golden(name: str, printed: Mapping[str, str]) -> None:
    """`printed` maps each case to its output."""
    parts = [f"=== {case}\n{text.rstrip()}\n" for case, text in printed.items()]
    path = FOLDER / name
    if os.environ.get("TRAINBENCH_WRITE_GOLDENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(parts), encoding="utf-8")
    assert "\n".join(parts) == path.read_text(encoding="utf-8")
