# SPDX-License-Identifier: MIT
"""Filters of the program: POSIX extended regular expressions for names of cases."""

import re
from collections.abc import Iterable

# re.escape also escapes characters that POSIX does not allow to be escaped.
_SPECIAL = re.compile(r"[][.{}()\\*+?|^$]")


def escaped(name: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", name)


def matching(names: Iterable[str]) -> str:
    """Returns a filter for exactly these cases."""
    return f"^({'|'.join(map(escaped, names))})$"
