# SPDX-License-Identifier: MIT
"""Files of JSON as typed records: what is wrong with one is said in a line, with the
value and what is allowed."""

import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
MOST_BYTES = 1 << 28  # a hundred times a result of the quick suite
# Where a record is, as msgspec writes it: a field, a place, or [...] of any other key.
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
# What some writers of JSON make of numbers that it has not.
_NO_NUMBER = re.compile(rb"NaN|Infinity")

_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "object": "an object",
    "str": "a text",
}


class NotAResult(ValueError):
    """The file is not what it should be. The message says why, in one line."""


def shown(value: object) -> str:
    """The value for an error message, in one line of bounded length."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of too many digits"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def parse(content: bytes) -> Any:
    """Errors: NotAResult; also for numbers that no float holds."""
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
            raise NotAResult(f"it holds {word[0].decode()}, no number") from error
        if at >= len(content.rstrip()) or "truncated" in str(error):
            raise NotAResult("it breaks off: it is not the whole file") from error
        raise NotAResult(f"it is no JSON: {error}") from error


def read(path: Path) -> bytes:
    """Errors: NotAResult; the message does not name the file."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise NotAResult(f"it cannot be read: {error.strerror}") from error
    if len(content) > MOST_BYTES:  # /dev/zero never ends
        raise NotAResult(f"it has more than {MOST_BYTES >> 20} MiB")
    return content


def load(path: Path) -> Any:
    """Errors: NotAResult; the message does not name the file."""
    return parse(read(path))


def record(document: Any, kind: type[T], of: str = "") -> T:
    """The document as what its type says. Errors: NotAResult; `of` names it there."""
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
    if not said.startswith("Expected "):  # of a check of ours
        return f"{said}, in {whole}"
    allowed = said.removeprefix("Expected ").partition(", got")[0].replace("`", "")
    allowed = re.sub(r"\w+", lambda word: _WORDS.get(word[0], word[0]), allowed)
    return f"{whole} is {shown(value)}; allowed: {allowed}"


def _choices(kind: Any, field: str) -> str:
    """What a field of that name may be, in the types that the kind is made of."""
    for part in msgspec.json.schema(kind)["$defs"].values():
        found = part.get("properties", {}).get(field, {})
        for choices in (found, *found.get("anyOf", [])):
            if "enum" in choices:
                return ", ".join(map(repr, choices["enum"]))
    raise AssertionError(f"{field} is no enumeration")


def _wrong_key(
    document: Any, kind: Any, entries: dict[str, Any], error: str
) -> str | None:
    """The key of the entry that msgspec means: it leaves out which."""
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
    """A file of ours that says what it is. Errors: NotAResult."""
    document = load(path)
    if not isinstance(document, dict):
        raise NotAResult(f"it is {shown(document)}; allowed: an object")
    for key, expected in (("kind", kind), ("version", version)):
        found = document.get(key)
        if found != expected or isinstance(found, bool):
            raise NotAResult(f"its {key} is {shown(found)}; allowed: {expected!r}")
    return document
