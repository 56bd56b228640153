# SPDX-License-Identifier: MIT
"""Blocks between marks in a document, which a program keeps up to date."""

import re


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
