# SPDX-License-Identifier: MIT
"""The settings of each process of a run: side, order of cases, environment.

They derive from the key of the run and the position of the process, so that a resumed
run continues exactly as it would have without the interruption.
"""

import hashlib
from collections.abc import Sequence

from reports.compare.ab_record import SIDES, SideName
from reports.compare.filters import matching

# An environment variable of random length shifts the stack. It turns the effect of
# memory layout on speed from a bias of one side into noise between processes
# (Mytkowicz et al., ASPLOS 2009).
PADDING_VARIABLE = "TRAINBENCH_AB_PADDING"
_LONGEST_PADDING = 4096

# Linux limits an argument to 128 KiB, libstdc++ limits an expression to 100,000
# states, about one per character.
LONGEST_FILTER = 60_000


def _random_below(limit: int, seed: str) -> int:
    digest = hashlib.sha256(seed.encode()).digest()
    return int.from_bytes(digest[:8], "big") % limit


def side_of(key: str, position: int) -> SideName:
    """The side of a process: a coin decides for each pair which side runs first.

    As in the order A B B A, drift favours no side. But A B B A has a period, which
    another job on the machine may share; a coin has none. Each run tosses its own
    coins, because a fixed sequence would be periodic over several runs.
    """
    new_begins = _random_below(2, f"{key}/order of pair {position // 2}")
    return SIDES[(position % 2) ^ new_begins]


def seed_of(key: str, pair: int) -> int:
    """The seed of the order of cases, the same on both sides of a pair."""
    return _random_below(2**31, f"{key}/pair {pair}")


def seed_of_turns(key: str, pair: int) -> int:
    """The seed of the coins that decide which side begins each round of turns."""
    return _random_below(2**31, f"{key}/turns of pair {pair}")


def padding_of(key: str, position: int) -> str:
    return "x" * _random_below(_LONGEST_PADDING, f"{key}/process {position}")


def filter_of(names: Sequence[str]) -> str | None:
    """A filter for these cases; None if it is too long."""
    expression = matching(names)
    return expression if len(expression) <= LONGEST_FILTER else None
