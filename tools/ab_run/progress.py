# SPDX-License-Identifier: MIT
"""Progress messages on standard error."""

import shutil
import sys
from typing import TextIO


def duration(seconds: float) -> str:
    """Formats a duration as the program does, e.g. 1:05 or 2:00:00."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours}:{minutes:02}:{whole % 60:02}"
    return f"{minutes}:{whole % 60:02}"


class StatusLine:
    """A line that is updated in place on a terminal, and printed again elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._open = False

    def print(self, text: str) -> None:
        """Prints a line that stays."""
        self.close()
        print(text, file=self._stream, flush=True)

    def show(self, text: str) -> None:
        """Shows a new status."""
        if self._terminal:
            self.update(text)
        else:
            self.print(text)

    def update(self, text: str) -> None:
        """Updates the status on a terminal; does nothing elsewhere."""
        if self._terminal:
            # A wrapped line could not be erased.
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[K{text[:width]}")
            self._stream.flush()
            self._open = True

    def close(self) -> None:
        if self._open:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._open = False
