# SPDX-License-Identifier: MIT
"""Writes files so that a full disk costs none that was there, and others see each as a
whole or not at all, whoever else writes it."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Writes all beside their places, then moves them there. Errors: OSError."""
    written: dict[Path, Path] = {}
    try:
        for given, content in contents.items():
            data = content.encode() if isinstance(content, str) else content
            if given.exists() and not given.is_file():  # a pipe or a device
                given.write_bytes(data)
                continue
            path = given.resolve()  # a link stays one
            written[path] = path.with_name(f".{uuid4().hex}.tmp")
            written[path].write_bytes(data)
        for path, beside in written.items():
            os.replace(beside, path)
    finally:
        for beside in written.values():
            beside.unlink(missing_ok=True)


def _block(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name}:[^\n]*-->\n).*?(<!-- /{name} -->)", re.DOTALL)


def block_of(document: str, name: str) -> str:
    """The text between the marks of that name. ValueError without marks."""
    found = _block(name).search(document)
    if found is None:
        raise ValueError(f"it has no <!-- {name}: ... --> <!-- /{name} --> marks")
    return document[found.end(1) : found.start(2)].strip("\n")


def with_block(document: str, name: str, text: str) -> str:
    """The document with `text` between its marks. ValueError without marks."""
    block_of(document, name)
    return _block(name).sub(lambda m: f"{m[1]}\n{text}\n\n{m[2]}", document)
