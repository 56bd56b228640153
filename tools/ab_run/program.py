# SPDX-License-Identifier: MIT
"""The program of one side, and the queries about its flags and rows."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.ab_run.errors import Usage


@dataclass(frozen=True)
class Program:
    path: Path
    name: str  # of its side, for messages

    def _ask(self, *flags: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [self.path, *flags],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except OSError as error:
            raise Usage(f"{self.path} cannot be run: {error.strerror}") from error

    def can_shuffle(self) -> bool:
        """Whether it has --shuffle; older revisions do not."""
        return "--shuffle" in self._ask("--help").stdout

    def can_take_turns(self) -> bool:
        """Whether it has --turns; older revisions do not."""
        return self._ask("--turns=0", "--list").returncode == 0

    def rows(self, flags: Sequence[str]) -> list[str]:
        """The names of its cases. Errors: Usage, with the message of the program."""
        done = self._ask(*flags, "--benchmark_list_tests")
        if done.returncode != 0:
            words = done.stderr.strip() or f"exit status {done.returncode}"
            raise Usage(f"{self.name} does not take these flags: {words}")
        return done.stdout.split()


def existing(path: Path, name: str) -> Program:
    """A program that the user built. Errors: Usage."""
    if not path.is_file():
        raise Usage(
            f"--binaries: {path} is {'no file' if path.exists() else 'missing'}"
        )
    if not os.access(path, os.X_OK):
        raise Usage(f"--binaries: {path} is not executable")
    return Program(path.resolve(), name)
