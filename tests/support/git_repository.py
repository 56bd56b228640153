# SPDX-License-Identifier: MIT
"""Git in a folder that a test made, by an author that it needs not have."""

import subprocess
from pathlib import Path


def git(root: Path, *arguments: str, program: str = "git") -> str:
    """What git prints. CalledProcessError: it failed."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    return subprocess.check_output(
        [program, *identity, *arguments], cwd=root, text=True
    ).strip()
