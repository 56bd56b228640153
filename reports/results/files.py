# SPDX-License-Identifier: MIT
"""Writes files atomically: a full disk destroys no existing file, and readers see each
file whole or not at all, even with concurrent writers."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4


def write_files(contents: Mapping[Path, str | bytes]) -> None:
    """Writes all to temporary files in their folders, which it makes if needed, then
    renames them. Raises OSError, which names the file."""
    written: dict[Path, Path] = {}
    path = Path()
    try:
        for given, content in contents.items():
            path = given
            data = content.encode() if isinstance(content, str) else content
            if given.exists() and not given.is_file():  # a pipe or a device
                given.write_bytes(data)
                continue
            path = given.resolve()  # a symbolic link stays a link
            path.parent.mkdir(parents=True, exist_ok=True)
            written[path] = path.with_name(f".{uuid4().hex}.tmp")
            written[path].write_bytes(data)
        for path, beside in written.items():
            os.replace(beside, path)
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        for beside in written.values():
            beside.unlink(missing_ok=True)


def with_block(document: str, name: str, text: str) -> str:
    """Puts `text` between the marks. Raises ValueError if there are none."""
    block = rf"(<!-- {name}:[^\n]*-->\n).*?(<!-- /{name} -->)"
    made, count = re.subn(
        block, lambda m: f"{m[1]}\n{text}\n\n{m[2]}", document, flags=re.DOTALL
    )
    if not count:
        raise ValueError(f"it has no <!-- {name}: ... --> <!-- /{name} --> marks")
    return made
