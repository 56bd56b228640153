# SPDX-License-Identifier: MIT
"""Writes files so that a full disk costs none that was there."""

import os
from collections.abc import Mapping
from pathlib import Path


def write_files(contents: Mapping[Path, str]) -> None:
    """Writes all beside their places, then moves them there. Errors: OSError."""
    written: dict[Path, Path] = {}
    try:
        for given, text in contents.items():
            if given.exists() and not given.is_file():  # a pipe or a device
                given.write_text(text, encoding="utf-8")
                continue
            path = given.resolve()  # a link stays one
            written[path] = path.with_name(f"{path.name}.tmp")
            written[path].write_text(text, encoding="utf-8")
        for path, beside in written.items():
            os.replace(beside, path)
    finally:
        for beside in written.values():
            beside.unlink(missing_ok=True)
