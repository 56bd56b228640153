# SPDX-License-Identifier: MIT
"""What ends a run early, and with which exit status."""


class Failed(Exception):
    """The message is for the user, in one line unless it quotes a program."""

    status = 1


class Usage(Failed):
    """Nothing can be measured as asked."""

    status = 2


class BuildFailed(Failed):
    """As of every script of tools/."""

    status = 3


class Interrupted(BaseException):
    """A signal that asks for an end. No Exception, so that nothing swallows it."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.status = 128 + signal_number
