# SPDX-License-Identifier: MIT
"""What a person who waits is told, on standard error."""

import shutil
import sys
from typing import TextIO


def duration(seconds: float) -> str:
    """As the program itself prints it, e.g. 1:05 or 2:00:00."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours}:{minutes:02}:{whole % 60:02}"
    return f"{minutes}:{whole % 60:02}"


class Lines:
    """One line that changes on a terminal; elsewhere lines that stay."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._open = False

    def say(self, text: str) -> None:
        """A line that stays."""
        self.close()
        print(text, file=self._stream, flush=True)

    def status(self, text: str) -> None:
        """A new state of affairs."""
        if self._terminal:
            self.update(text)
        else:
            self.say(text)

    def update(self, text: str) -> None:
        """The same state a moment later: only where a line can change."""
        if self._terminal:
            # A line that wraps could not be taken back.
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[K{text[:width]}")
            self._stream.flush()
            self._open = True

    def close(self) -> None:
        if self._open:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._open = False
