# SPDX-License-Identifier: MIT
"""Flags of tools/plan, tools/validate and tools/rehearse."""

import argparse
import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from reports.compare.argument_types import number

_UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "k": 10**3, "M": 10**6, "G": 10**9}
LINKS = "NAME:GB_PER_S:US,..."
_LINK = re.compile(r"([A-Za-z0-9_.-]{1,64}):([^:]+):([^:]+)")
# A flag, "with" or "without", and the flags that it needs one of, or contradicts.
Rule = tuple[str, str, Sequence[str]]


class _Once(argparse.Action):
    """Stores a value, and refuses a second one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option: str | None = None,
    ) -> None:
        given = vars(namespace).setdefault("_given", set())
        if self.dest in given:
            parser.error(f"{option} is given twice; allowed: once")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            said = f"it is {value!r}; allowed: {', '.join(action.choices)}"
            raise argparse.ArgumentError(action, said)


def parser(
    description: str, prog: str = "tools/plan", **options: Any
) -> argparse.ArgumentParser:
    """Makes a parser with one-line errors that refuses a flag given twice."""
    made = _Parser(
        prog=prog,
        description=description,
        usage=argparse.SUPPRESS,
        allow_abbrev=False,
        **options,
    )
    made.register("action", None, _Once)
    return made


def parse(
    parser: argparse.ArgumentParser,
    tokens: Sequence[str],
    hints: Mapping[str, str] = {},
) -> argparse.Namespace:
    """Exits with an error that names an unknown token and its hint, or the parser's
    nearest flag."""
    given, unknown = parser.parse_known_args(tokens)
    for token in (one for one in unknown if one != "--"):
        flag = token.partition("=")[0]
        known = parser._option_string_actions.keys() - {flag}
        hint = "--help lists the flags" if flag.startswith("-") else "allowed: flags"
        for near in difflib.get_close_matches(flag, known, n=1, cutoff=0.84):
            hint = f"did you mean {near!r}?"
        parser.error(f"unexpected {token!r}; {hints.get(flag, hint)}")
    return given


def check(
    parser: argparse.ArgumentParser, given: argparse.Namespace, rules: Iterable[Rule]
) -> None:
    """Exits with the parser's error if the given flags break a rule."""
    for flag, word, others in rules:
        value = getattr(given, flag)
        has_other = any(getattr(given, other) is not None for other in others)
        if value is not None and has_other != (word == "with"):
            shown = repr(value) if isinstance(value, str) else f"{value:.13g}"
            named = " or ".join(f"--{other}" for other in others)
            parser.error(f"--{flag} is {shown}; allowed: only {word} {named}")


@dataclass(frozen=True)
class Link:
    """A link between ranks."""

    name: str
    gb_per_s: float  # that a rank sends, in 10^9 bytes/s
    us: float  # cost of a call

    @property
    def us_per_byte(self) -> float:
        return 1e6 / (self.gb_per_s * 1e9)


def _link(item: str) -> Link:
    match = _LINK.fullmatch(item)
    if not match:
        raise argparse.ArgumentTypeError(
            f"it has {item!r}; allowed: NAME:GB_PER_S:US, separated by commas"
        )
    amount = number(1e-6, 1e9)
    try:
        return Link(match[1], amount(match[2]), amount(match[3]))
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"it has {item!r}: {error}") from error


def count(least: float, most: float) -> Callable[[str], float]:
    """Returns a type for whole numbers, also with a unit: 4Ki, 10k."""
    read = number(least, most, whole=True)

    def counted(value: str) -> float:
        for unit, factor in _UNITS.items():
            with suppress(argparse.ArgumentTypeError, ValueError):
                if value.endswith(unit):
                    return read(str(float(value.removesuffix(unit)) * factor))
        return read(value)

    return counted


def words(value: str) -> list[str]:
    """Different words, separated by commas."""
    found = value.split(",")
    for word in found:
        if found.count(word) > 1:
            raise argparse.ArgumentTypeError(f"it has {word!r} twice; allowed: once")
    return found


def links(value: str) -> list[Link]:
    found = [*map(_link, value.split(","))]
    words(",".join(link.name for link in found))
    return found


def two_links(value: str) -> list[Link]:
    """The links inside a node, and between nodes."""
    found = links(value)
    if len(found) != 2:
        raise argparse.ArgumentTypeError(
            f"it is {value!r}; allowed: two links, inside a node and between nodes"
        )
    return found
