# SPDX-License-Identifier: MIT
"""How every command in Python starts and ends.

    python -m reports.command tools/answers reports.answers.__main__ ARGUMENT...

Its output never stops it: what a closed pipe does not take is dropped, what a full disk
does not take is an error at the end. Ctrl-C ends it without a traceback, even while it
loads its modules.
"""

import importlib.util
import io
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TextIO

CANNOT_PRINT, CANNOT_START, INTERRUPTED = 2, 3, 130
NEEDED = ("jinja2", "msgspec", "numpy", "scipy")  # what reports/ takes of others
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
    """What is written in place of the stream, which is None if it is closed."""
    if stream is None:
        # Or the next file that is opened gets its number, and what is printed.
        os.dup2(os.open(os.devnull, os.O_RDONLY), descriptor)
    raw = _Output(descriptor, "w", closefd=False)
    return raw, io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding if stream else "utf-8",
        errors="backslashreplace",  # a terminal may lack a letter
        line_buffering=descriptor == 2 or raw.isatty(),
    )


def run_main(program: str, main: Main) -> NoReturn:
    """Ends the process with main's status, 0 for None."""
    output, sys.stdout = _output(1, sys.stdout)
    _, sys.stderr = _output(2, sys.stderr)
    status: str | int | None
    try:
        status = main(sys.argv[1:])
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        status = INTERRUPTED
    except SystemExit as end:  # of argparse, or with a reason
        status = end.code
    sys.stdout.flush()
    # A reader that has seen enough is no failure.
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
