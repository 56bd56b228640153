# SPDX-License-Identifier: MIT
"""Writes each kernel of a result's profiles, with the family assigned to it.

python -m tools.prove.kernel_names RESULT FILE
"""

import json
import sys
from pathlib import Path


def names(result: Path) -> list[str]:
    """Sorted lines, each with a family and a name."""
    document = json.loads(result.read_text(encoding="utf-8"))
    return sorted(
        {
            f"{kernel['family']}\t{kernel['name']}"
            for profile in document["profiles"]
            for kernel in profile["kernels"]
        }
    )


if __name__ == "__main__":
    Path(sys.argv[2]).write_text("".join(f"{n}\n" for n in names(Path(sys.argv[1]))))
