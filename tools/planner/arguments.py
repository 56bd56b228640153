# SPDX-License-Identifier: MIT
"""Flags of tools/plan."""

import argparse
import difflib
import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn


def number(least: float, most: float, whole: bool = False) -> Callable[[str], float]:
    """Errors: ArgumentTypeError, with the value and what is allowed. A whole number may
    be written as 1e9."""
    kind = "a whole number" if whole else "a number"

    def read(value: str) -> float:
        try:
            found = float(value)
        except ValueError:
            found = math.nan
        if not least <= found <= most or (whole and found != int(found)):
            raise argparse.ArgumentTypeError(
                f"it is {value!r}; allowed: {kind}, {least:.13g} to {most:.13g}"
            )
        return int(found) if whole else found

    return read


def parser(description: str, **options: Any) -> argparse.ArgumentParser:
    """With errors of one line."""
    return argparse.ArgumentParser(
        prog="tools/plan",
        description=description,
        usage=argparse.SUPPRESS,
        allow_abbrev=False,
        **options,
    )


def refuse(to: argparse.ArgumentParser, token: str, flags: Sequence[str]) -> NoReturn:
    """An error that names the token and, of `flags`, the nearest."""
    name = token.partition("=")[0]
    near = difflib.get_close_matches(name, flags, 1)
    hint = f"did you mean '{near[0]}'?" if near else "see --help"
    to.error(f"unexpected {name!r}; {hint if name[:1] == '-' else 'allowed: flags'}")
