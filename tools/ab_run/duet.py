# SPDX-License-Identifier: MIT
"""Runs two programs at the same time, which take turns."""

import contextlib
import select
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace

from tools.ab_run.child import Child, ChildExit, run_children
from tools.ab_run.turns import Turns


class _Questions:
    """Hears the questions of two programs, and gives them their turns."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._ends: list[socket.socket] = []  # ours, by the program's number
        self._heard = ["", ""]

    def connect(self, child: Child) -> tuple[Child, socket.socket]:
        """The child with a socket, and that socket, which it inherits."""
        ours, theirs = socket.socketpair()
        self._ends.append(ours)
        flag = f"--turns={theirs.fileno()}"
        command = [*child.command, flag]
        return replace(child, command=command, inherited=[theirs.fileno()]), theirs

    def attend(self, seconds: float) -> bool:
        """Serves the programs for at most so long; False if both have ended.

        Errors: Failed.
        """
        open_ends = [end for end in self._ends if end.fileno() >= 0]
        if not open_ends:
            return False
        for end in select.select(open_ends, [], [], seconds)[0]:
            self._hear(self._ends.index(end))
        while (given := self._turns.give()) is not None:
            number, answer = given
            with contextlib.suppress(BrokenPipeError):  # its end is heard next
                self._ends[number].sendall(answer)
        return True

    def _hear(self, number: int) -> None:
        end = self._ends[number]
        try:
            text = end.recv(4096)
        except ConnectionResetError:
            text = b""
        if not text:
            end.close()
            self._turns.end(number)
        *lines, rest = (self._heard[number] + text.decode(errors="replace")).split("\n")
        self._heard[number] = rest
        for line in lines:
            self._turns.hear(number, line)

    def close(self) -> None:
        for end in self._ends:
            end.close()


def run_in_turns(
    children: Sequence[Child], turns: Turns, tick: Callable[[float], None]
) -> list[ChildExit]:
    questions = _Questions(turns)
    connected = [questions.connect(child) for child in children]
    theirs = [end for _, end in connected]

    def attend(seconds: float) -> bool:
        while theirs:  # while we hold it, we do not hear that a program has ended
            theirs.pop().close()
        return questions.attend(seconds)

    try:
        return run_children([child for child, _ in connected], attend=attend, tick=tick)
    finally:
        questions.close()
        for end in theirs:
            end.close()
