# SPDX-License-Identifier: MIT
"""Exceptions that end a run early, with their exit status."""

from reports.results.refused import Refused


class Failed(Refused):
    """The message is one line for the user, unless it quotes a program."""

    status = 1


class Rebuilt(Failed):
    """A program changed during the run, and has another identity from now on."""


class Usage(Failed):
    """The request cannot be measured."""

    status = Refused.status


class BuildFailed(Failed):
    """A build failed; all scripts in tools/ share this status."""

    status = 3


class Interrupted(KeyboardInterrupt):
    """A signal asked the program to end. No Exception: handlers must not catch it."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.number = signal_number
        self.status = 128 + signal_number
