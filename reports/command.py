# SPDX-License-Identifier: MIT
"""Runs every Python command and sets its exit status.

    python -m reports.command tools/answers reports.answers.main ARGUMENT...

A command always runs to its end: output to a closed pipe is dropped, and output that a
full disk refuses is reported as an error at the end. Refused and OSError end it with a
line, Ctrl-C without a traceback, even while its modules are being imported.
"""

import importlib.util
import io
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TextIO

from reports.results.refused import Refused

CANNOT_PRINT, CANNOT_START, INTERRUPTED = 2, 3, 130
NEEDED = ("jinja2", "msgspec", "numpy", "scipy")  # third-party packages of reports/
Main = Callable[[list[str]], int | None]


class _Output(io.FileIO):
    """A standard stream that remembers why it cannot be written."""

    failure: OSError | None = None

    def write(self, data: Any, /) -> int:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return len(data)


def _output(descriptor: int, stream: TextIO | None) -> tuple[_Output, TextIO]:
    """Replaces a standard stream, which is None if it is closed."""
    if stream is None:
        # Otherwise the next opened file gets this descriptor and the printed text.
        os.dup2(os.open(os.devnull, os.O_RDONLY), descriptor)
    raw = _Output(descriptor, "w", closefd=False)
    return raw, io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding if stream else "utf-8",
        errors="backslashreplace",  # the terminal's encoding may lack a character
        line_buffering=descriptor == 2 or raw.isatty(),
    )


def status_of(program: str, main: Main, flags: list[str]) -> int | None:
    """Returns main's status; prints why it refuses, if it does."""
    try:
        return main(flags)
    except (Refused, OSError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return error.status if isinstance(error, Refused) else Refused.status


def run_main(program: str, main: Main) -> NoReturn:
    """Runs main and ends the process with its status; None counts as 0."""
    output, sys.stdout = _output(1, sys.stdout)
    _, sys.stderr = _output(2, sys.stderr)
    status: str | int | None
    try:
        status = status_of(program, main, sys.argv[1:])
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        status = INTERRUPTED
    except SystemExit as end:  # from argparse, or sys.exit(reason)
        status = end.code
    sys.stdout.flush()
    # A reader that closes the pipe early is not a failure.
    if output.failure and not isinstance(output.failure, BrokenPipeError):
        why = output.failure.strerror
        print(f"{program}: cannot print: {why}", file=sys.stderr)
        status = CANNOT_PRINT
    sys.exit(status)


def _main_of(called: str, module: str) -> Main:
    def main(arguments: list[str]) -> int | None:
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            needed = dict.fromkeys((str(error.name), *NEEDED))
            missing = [name for name in needed if not importlib.util.find_spec(name)]
            print(
                f"{called}: {sys.executable} has no module {', '.join(missing)}; try: "
                f"{sys.executable} -m pip install {' '.join(missing)}",
                file=sys.stderr,
            )
            return CANNOT_START
        return found.main(arguments)  # type: ignore[no-any-return]

    return main


if __name__ == "__main__":
    _, called, wanted, *sys.argv[1:] = sys.argv
    run_main(called, _main_of(called, wanted))
