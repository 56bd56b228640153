# SPDX-License-Identifier: MIT
"""Flags of tools/plan, tools/validate and tools/rehearse."""

import argparse
import difflib
from typing import Any, NoReturn


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


def parser(
    description: str, prog: str = "tools/plan", **options: Any
) -> argparse.ArgumentParser:
    """Makes a parser with one-line errors that refuses a flag given twice."""
    made = argparse.ArgumentParser(
        prog=prog,
        description=description,
        usage=argparse.SUPPRESS,
        allow_abbrev=False,
        **options,
    )
    made.register("action", None, _Once)
    return made


def refuse(to: argparse.ArgumentParser, token: str) -> NoReturn:
    """Exits with an error that names the token and the parser's nearest flag."""
    name = token.partition("=")[0]
    near = difflib.get_close_matches(name, to._option_string_actions, 1, 0.85)
    hint = f"did you mean '{near[0]}'?" if near else "see tools/plan --parallel --help"
    to.error(f"unexpected {token!r}; {hint if name[:1] == '-' else 'allowed: flags'}")
