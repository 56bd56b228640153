# SPDX-License-Identifier: MIT
"""Flags of tools/plan, tools/validate and tools/rehearse."""

import argparse
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

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


def check(
    parser: argparse.ArgumentParser, given: argparse.Namespace, rules: Iterable[Rule]
) -> None:
    """Exits with the parser's error if the given flags break a rule."""
    for flag, word, others in rules:
        value = getattr(given, flag)
        has_other = any(getattr(given, other) for other in others)
        if value and has_other != (word == "with"):
            shown = repr(value) if isinstance(value, str) else f"{value:.13g}"
            named = " or ".join(f"--{other}" for other in others)
            parser.error(f"--{flag} is {shown}; allowed: only {word} {named}")


def run_program(
    program: Path, flags: Sequence[str], environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [program, *flags],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def answer(prog: str, done: "subprocess.CompletedProcess[str]") -> str:
    """Returns what the program printed, trainbench_plan. If it failed, exits with its
    status; 128 + N if signal N ended it."""
    print(done.stderr, end="", file=sys.stderr)
    if done.returncode < 0:
        print(f"{prog}: signal {-done.returncode}", file=sys.stderr)
        sys.exit(128 - done.returncode)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout
