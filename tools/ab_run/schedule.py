# SPDX-License-Identifier: MIT
"""What each process of a run is: its side, its order of cases, its surroundings.

All of it follows from the run's key and the process's number, so that a run that
was interrupted goes on as if it had not been.
"""

import hashlib
import re
from collections.abc import Sequence

from reports.compare.ab_record import SIDES, SideName

# A variable of random length moves the stack: what a program's speed owes to where
# its memory happens to lie becomes noise between processes instead of a bias of one
# side (Mytkowicz et al., ASPLOS 2009).
PADDING_VARIABLE = "TRAINBENCH_AB_PADDING"
_LONGEST_PADDING = 4096

# One argument may have 128 KiB on Linux, and libstdc++ gives up on an expression
# of more than 100,000 states, about one per character.
LONGEST_FILTER = 60_000

_SPECIAL = re.compile(r"[][.{}()\\*+?|^$]")


def pair_of(position: int) -> int:
    return position // 2


def _drawn(what: str, limit: int) -> int:
    digest = hashlib.sha256(what.encode()).digest()
    return int.from_bytes(digest[:8], "big") % limit


def side_of(key: str, position: int) -> SideName:
    """The sides take turns, and a coin says for each pair which one begins.

    Neither profits from a drift, as in A B B A; but that is a rhythm, which a
    neighbour on the machine may share. A coin has none, and each run tosses its own:
    one sequence for all of them would be a rhythm again.
    """
    new_begins = _drawn(f"{key}/order of pair {pair_of(position)}", 2)
    return SIDES[(position % 2) ^ new_begins]


def seed_of(key: str, pair: int) -> int:
    """Of the order of the cases, the same on both sides of a pair."""
    return _drawn(f"{key}/pair {pair}", 2**31)


def padding_of(key: str, position: int) -> str:
    return "x" * _drawn(f"{key}/process {position}", _LONGEST_PADDING)


def file_of(position: int) -> str:
    return f"{position + 1:03}.json"


def samples_file_of(file: str) -> str:
    return file.removesuffix(".json") + ".samples.jsonl"


def filter_of(names: Sequence[str]) -> str | None:
    """An extended regular expression for these names; None if it is too long."""
    escaped = (_SPECIAL.sub(r"\\\g<0>", name) for name in names)
    expression = f"^({'|'.join(escaped)})$"
    return expression if len(expression) <= LONGEST_FILTER else None
