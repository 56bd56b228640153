# SPDX-License-Identifier: MIT
"""Compact lists of case names: {a,b} and {0..3} each stand for one of the values."""

import itertools
import re
from collections.abc import Iterable

Part = tuple[str, tuple[str, ...]]  # a prefix ("seq:") and its values, or "" and words
Pattern = tuple[Part, ...]
_COLUMNS = 88


def expand(pattern: str) -> list[str]:
    """Returns every text that the pattern's braces stand for."""

    def choices(part: str) -> list[str]:
        if not part.startswith("{"):
            return [part]
        body = part[1:-1]
        if span := re.fullmatch(r"(\d+)\.\.(\d+)", body):
            return [str(n) for n in range(int(span[1]), int(span[2]) + 1)]
        return body.split(",")

    parts = re.findall(r"\{[^}]*\}|[^{}]+", pattern)
    return ["".join(text) for text in itertools.product(*map(choices, parts))]


def _rank(value: str) -> tuple[int, int, str]:
    return (0, int(value), "") if value.isdigit() else (1, 0, value)


def _parse(name: str) -> Pattern:
    def part(text: str) -> Part:
        key, colon, value = text.rpartition(":")
        return key + colon, (value,)

    return tuple(part(text) for text in name.split("/"))


def _merge(patterns: Iterable[Pattern], place: int) -> list[Pattern]:
    """Joins the patterns that differ only in the values at `place`."""
    values: dict[tuple[Pattern, str, Pattern], set[str]] = {}
    for pattern in patterns:
        if place >= len(pattern):
            found = values.setdefault((pattern, "", ()), set())
        else:
            before, (key, some), after = (
                pattern[:place],
                pattern[place],
                pattern[place + 1 :],
            )
            found = values.setdefault((before, key, after), set())
            found.update(some)
    return [
        (*before, (key, tuple(sorted(some, key=_rank))), *after) if some else before
        for (before, key, after), some in values.items()
    ]


def _braces(values: tuple[str, ...]) -> str:
    if len(values) == 1:
        return values[0]
    if len(values) > 2 and all(value.isdigit() for value in values):
        first, last = int(values[0]), int(values[-1])
        if last - first == len(values) - 1:
            return f"{{{first}..{last}}}"
    return f"{{{','.join(values)}}}"


def compress(names: Iterable[str]) -> list[str]:
    """Returns a few patterns that stand for exactly these names, in any order."""
    patterns = [_parse(name) for name in sorted(set(names))]
    longest = max(map(len, patterns), default=0)
    for place in reversed(range(longest)):
        patterns = _merge(patterns, place)
    return sorted(
        "/".join(key + _braces(values) for key, values in pattern)
        for pattern in patterns
    )


def wrapped(pattern: str) -> str:
    """Breaks the pattern into lines and indents all except the first."""
    lines = [""]
    for piece in re.findall(r"[^/,]*[/,]?", pattern):
        if len(lines[-1]) + len(piece) > _COLUMNS:
            lines.append("    ")
        lines[-1] += piece
    return "\n".join(lines)


def unwrapped(text: str) -> list[str]:
    """Returns the patterns of a file without its comments."""
    found: list[str] = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            found[-1] += line.strip()
        else:
            found.append(line.strip())
    return found
