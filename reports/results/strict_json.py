# SPDX-License-Identifier: MIT
"""Reads JSON that may be damaged: every defect raises NotJson."""

import json
import re
from pathlib import Path
from typing import Any

MOST_BYTES = 1 << 28  # a hundred times a result of the quick suite
# An escaped UTF-16 surrogate. Without its partner, no encoding can hold it.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# What a cut can leave of a number, a word or an escape.
_FRAGMENT = re.compile(r"[-+.\w\\]*\s*\Z")


class NotJson(ValueError):
    """The message says why, in one line that begins with "it"."""


def _refuse(constant: str) -> None:
    raise NotJson(f"it holds {constant}, which is no number")


def _why(text: str, error: json.JSONDecodeError) -> str:
    # A truncated file fails at its end, or in a string without an end.
    at_end = error.pos >= len(text.rstrip()) - 1
    if (
        at_end
        or _FRAGMENT.match(text, error.pos)
        or error.msg.startswith("Unterminated string")
    ):
        return "it breaks off: it is not the whole file"
    where = f"line {error.lineno}, column {error.colno}"
    return f"it is no JSON ({where}: {error.msg})"


def parse(text: str) -> Any:
    """Errors: NotJson."""
    if not text.strip():
        raise NotJson("it is empty")
    try:
        document = json.loads(text, parse_constant=_refuse)
        if _SURROGATE.search(text):
            json.dumps(document, ensure_ascii=False).encode("utf-8")
        return document
    except json.JSONDecodeError as error:
        raise NotJson(_why(text, error)) from error
    except UnicodeEncodeError as error:
        raise NotJson("it holds half of a surrogate pair, which is no text") from error
    except RecursionError as error:
        raise NotJson("it is nested too deeply") from error
    except NotJson:
        raise
    except ValueError as error:  # of int(), which refuses thousands of digits
        raise NotJson("it holds a whole number of too many digits") from error


def read(path: Path) -> str:
    """Errors: NotJson; the message does not name the file."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:  # /dev/zero never ends
            raise NotJson(f"it has more than {MOST_BYTES >> 20} MiB")
        return content.decode("utf-8")
    except OSError as error:
        raise NotJson(f"it cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise NotJson("it is no text") from error


def load(path: Path) -> Any:
    """Errors: NotJson, as read()."""
    return parse(read(path))
