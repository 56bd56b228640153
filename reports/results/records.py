# SPDX-License-Identifier: MIT
"""Reads JSON files as typed records. An error message is one line, with the invalid
value and the allowed ones."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from reports.results.files import write_files
from reports.results.refused import Refused

T = TypeVar("T")
MOST_BYTES = 1 << 28  # a hundred times a result of the quick suite
# A step of msgspec's path to a value: a field, a list index, or [...] for another key.
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
# Written by some JSON writers for values that JSON cannot represent.
_NO_NUMBER = re.compile(rb"NaN|Infinity")

_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "object": "an object",
    "str": "a text",
}


class NotAResult(Refused, ValueError):
    """The file is not a valid result. The message gives the reason in one line."""


def shown(value: object) -> str:
    """Formats the value for an error message, in one line of bounded length."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of too many digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def parse(content: bytes) -> Any:
    """Parses JSON. Errors: NotAResult, also for numbers that exceed a float's range."""
    if not content.strip():
        raise NotAResult("it is empty")
    try:
        return msgspec.json.decode(content)
    except RecursionError as error:
        raise NotAResult("it is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        found = re.search(r"byte (\d+)", str(error))
        at = int(found[1]) if found else 0
        if word := _NO_NUMBER.match(content, at):
            raise NotAResult(
                f"it contains {word[0].decode()}, which is not a number"
            ) from error
        if at >= len(content.rstrip()) or "truncated" in str(error):
            raise NotAResult("it breaks off: it is not the whole file") from error
        raise NotAResult(f"it is not JSON: {error}") from error


def read(path: Path) -> bytes:
    """Reads the file. Errors: NotAResult; the message does not name the file."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise NotAResult(f"it cannot be read: {error.strerror}") from error
    if len(content) > MOST_BYTES:  # /dev/zero never ends
        raise NotAResult(f"it has more than {MOST_BYTES >> 20} MiB")
    return content


def load(path: Path) -> Any:
    """Parses the file. Errors: NotAResult; the message does not name the file."""
    return parse(read(path))


def record(document: Any, kind: type[T], of: str = "") -> T:
    """Converts to `kind`. Errors: NotAResult, which calls the document `of`."""
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise NotAResult(_told(document, kind, of, str(error))) from error


def _told(document: Any, kind: Any, of: str, error: str) -> str:
    said, _, path = error.partition(" - at `$")
    value, place = document, ""
    for name, index in _STEP.findall(path):
        key = int(index) if index.isdigit() else name
        if index == "...":
            key = _wrong_key(document, kind, value, error)
        value, place = value[key], f"{place}[{key}]" if index else f"{place}.{key}"
    place = place.removeprefix(".")
    if missing := re.fullmatch(r"Object missing required field `(\w+)`", said):
        return f"{place or of or 'it'} lacks {missing[1]}"
    whole = " of ".join(filter(None, (place, of))) or "it"
    if said.startswith("Invalid enum value"):
        choices = _choices(kind, place.rpartition(".")[2])
        return f"{whole} is {shown(value)}; allowed: {choices}"
    if not said.startswith("Expected "):  # raised by a record's __post_init__
        return f"{said}, in {whole}"
    allowed = said.removeprefix("Expected ").partition(", got")[0].replace("`", "")
    allowed = re.sub(r"\w+", lambda word: _WORDS.get(word[0], word[0]), allowed)
    return f"{whole} is {shown(value)}; allowed: {allowed}"


def _choices(kind: Any, field: str) -> str:
    """Lists the allowed values of the enumeration field in the kind's types."""
    for part in msgspec.json.schema(kind)["$defs"].values():
        found = part.get("properties", {}).get(field, {})
        for choices in (found, *found.get("anyOf", [])):
            if "enum" in choices:
                return ", ".join(map(repr, choices["enum"]))
    raise AssertionError(f"{field} is no enumeration")


def _wrong_key(
    document: Any, kind: Any, entries: dict[str, Any], error: str
) -> str | None:
    """Finds the invalid entry's key, which msgspec omits from its message."""
    every = dict(entries)
    for key, value in every.items():
        entries.clear()
        entries[key] = value
        try:
            msgspec.convert(document, kind)
        except msgspec.ValidationError as found:
            if str(found) == error:
                return key
        finally:
            entries.clear()
            entries.update(every)
    return None


def saved(path: Path, kind: str, version: int) -> dict[str, Any]:
    """Loads a file that states this kind and version. Errors: NotAResult."""
    document = load(path)
    if not isinstance(document, dict):
        raise NotAResult(f"it is {shown(document)}; allowed: an object")
    for key, expected in (("kind", kind), ("version", version)):
        found = document.get(key)
        if found != expected or isinstance(found, bool):
            raise NotAResult(f"its {key} is {shown(found)}; allowed: {expected!r}")
    return document


def save(path: Path, kind: str, version: int, content: Mapping[str, Any]) -> None:
    """Replaces a file for `saved`. Errors: OSError."""
    document = {"kind": kind, "version": version, **content}
    write_files({path: json.dumps(document, indent=2) + "\n"})
