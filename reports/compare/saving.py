# SPDX-License-Identifier: MIT
"""Writes the JSON files that `records.saved` reads."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports.results.files import write_files


def save(path: Path, kind: str, version: int, content: Mapping[str, Any]) -> None:
    """Replaces the file atomically. Errors: OSError."""
    document = {"kind": kind, "version": version, **content}
    write_files({path: json.dumps(document, indent=2) + "\n"})
