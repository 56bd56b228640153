# SPDX-License-Identifier: MIT
"""Runs two programs at the same time, interleaved in turns."""

import contextlib
import select
import socket
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tools.ab_run.child import Child, ChildExit, run_children
from tools.ab_run.errors import Failed

TURN = b"t"
TURN_BESIDE_OTHER = b"b"  # the other program holds the case in memory

Case = tuple[str, int]  # its name and its repetition


@dataclass
class _Program:
    case: Case | None = None  # the case that it begins or runs
    asks_for: Literal["case", "sample"] | None = None  # None: it runs
    ended: bool = False
    begun: Counter[str] = field(default_factory=Counter)

    def has_begun(self, case: Case | None) -> bool:
        return case is not None and self.begun[case[0]] > case[1]


class Turns:
    """Decides which of two programs, 0 and 1, runs next. At first both run.

    If both are about to sample the same case, a coin decides which begins, and the
    other follows: a round. `rows` are the cases that both have. A case that only one
    program measures, or that cannot be shared, is a single turn.
    """

    def __init__(self, rows: Collection[str], coin: Callable[[], int]) -> None:
        self._rows = frozenset(rows)
        self._coin = coin
        self._programs = (_Program(), _Program())
        self._owed: int | None = None  # which program has this round's second turn

    def hear(self, number: int, question: str) -> None:
        """Notes a program's question. Errors: Failed, if it is not understood."""
        program = self._programs[number]
        word, _, name = question.partition(" ")
        if word == "case" and name:
            program.case = (name, program.begun[name])
            program.begun[name] += 1
            program.asks_for = "case"
        elif question == "sample" and program.case is not None:
            program.asks_for = "sample"
        else:
            raise Failed(f"a program asked for a turn by {question!r}")

    def end(self, number: int) -> None:
        self._programs[number].ended = True

    def give(self) -> tuple[int, bytes] | None:
        """The program with the next turn, and the answer; None while one runs."""
        waiting = [n for n in (0, 1) if not self._programs[n].ended]
        if not waiting or any(not self._programs[n].asks_for for n in waiting):
            return None
        number = waiting[0] if len(waiting) == 1 else self._choose()
        chosen, other = self._programs[number], self._programs[1 - number]
        beside = (
            chosen.asks_for == "case"
            and (other.case, other.asks_for) == (chosen.case, "sample")
            and not other.ended
        )
        chosen.asks_for = None
        return number, TURN_BESIDE_OTHER if beside else TURN

    def _choose(self) -> int:
        a, b = self._programs
        in_samples = [n for n in (0, 1) if self._programs[n].asks_for == "sample"]
        if a.case != b.case:
            self._owed = None
            return in_samples[0] if in_samples else self._behind()
        if len(in_samples) == 1:  # the other one has to build the case
            return 1 - in_samples[0]
        if not in_samples:
            return self._coin()
        if self._owed is None:
            first = self._coin()
            self._owed = 1 - first
            return first
        second, self._owed = self._owed, None
        return second

    def _behind(self) -> int:
        """The program that runs next if the two are about to begin different cases."""
        a, b = self._programs
        if b.has_begun(a.case):
            return 0
        if a.has_begun(b.case):
            return 1
        return 1 if b.case is not None and b.case[0] not in self._rows else 0


class _Questions:
    """Receives the questions of two programs, and answers them with turns."""

    def __init__(self, turns: Turns, ends: Sequence[socket.socket]) -> None:
        self._turns = turns
        self._ends = ends  # ours, by the program's number

    def attend(self, seconds: float) -> bool:
        """Serves the programs for at most these seconds; returns False if both ended.

        Errors: Failed.
        """
        open_ends = [end for end in self._ends if end.fileno() >= 0]
        if not open_ends:
            return False
        for end in select.select(open_ends, [], [], seconds)[0]:
            self._hear(self._ends.index(end))
        while (given := self._turns.give()) is not None:
            number, answer = given
            with contextlib.suppress(BrokenPipeError):  # the next recv() sees its end
                self._ends[number].sendall(answer)
        return True

    def _hear(self, number: int) -> None:
        question = b""
        with contextlib.suppress(ConnectionResetError):
            question = self._ends[number].recv(4096)
        if question:
            self._turns.hear(number, question.decode(errors="replace").rstrip("\n"))
        else:
            self._ends[number].close()
            self._turns.end(number)


def _connected(child: Child, end: socket.socket) -> Child:
    """Returns the child with the socket that it inherits."""
    command = [*child.command, f"--turns={end.fileno()}"]
    return replace(child, command=command, inherited=[end.fileno()])


def run_in_turns(
    children: Sequence[Child], turns: Turns, tick: Callable[[float], None]
) -> list[ChildExit]:
    # Such a socket keeps questions apart: a program sends each at once.
    links = [socket.socketpair(type=socket.SOCK_SEQPACKET) for _ in children]
    ours, theirs = [list(ends) for ends in zip(*links, strict=True)]
    questions = _Questions(turns, ours)
    connected = list(map(_connected, children, theirs))

    def attend(seconds: float) -> bool:
        while theirs:  # an open copy here would hide that a program has ended
            theirs.pop().close()
        return questions.attend(seconds)

    try:
        return run_children(connected, attend=attend, tick=tick)
    finally:
        for end in (*ours, *theirs):
            end.close()
