# SPDX-License-Identifier: MIT
"""The experiment that CONTRIBUTING.md shows."""

import re
from pathlib import Path

_DOCUMENT = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"


def example() -> str:
    """The text of the one block of C++."""
    (block,) = re.findall(
        r"^```cpp\n(.*?)^```$", _DOCUMENT.read_text(encoding="utf-8"), re.M | re.S
    )
    return str(block)
