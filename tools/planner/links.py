# SPDX-License-Identifier: MIT
"""Links between ranks, as the flag --links names them."""

import argparse
import re
from dataclasses import dataclass

from reports.compare.argument_types import number

METAVAR = "NAME:GB_PER_S:US,..."
_LINK = re.compile(r"([A-Za-z0-9_.-]{1,64}):([^:]+):([^:]+)")


@dataclass(frozen=True)
class Link:
    name: str
    gb_per_s: float  # that a rank sends, in 10^9 bytes/s
    us: float  # cost of a call

    @property
    def us_per_byte(self) -> float:
        return 1e6 / (self.gb_per_s * 1e9)


def _link(item: str) -> Link:
    match = _LINK.fullmatch(item)
    if not match:
        raise argparse.ArgumentTypeError(
            f"it has {item!r}; allowed: NAME:GB_PER_S:US, separated by commas"
        )
    amount = number(1e-6, 1e9)
    try:
        return Link(match[1], amount(match[2]), amount(match[3]))
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"it has {item!r}: {error}") from error


def links(value: str) -> list[Link]:
    found: list[Link] = []
    for link in map(_link, value.split(",")):
        if link.name in (other.name for other in found):
            raise argparse.ArgumentTypeError(
                f"it has '{link.name}' twice; allowed: once"
            )
        found.append(link)
    return found


def two_links(value: str) -> list[Link]:
    """The links inside a node, and between nodes."""
    found = links(value)
    if len(found) != 2:
        raise argparse.ArgumentTypeError(
            f"it is {value!r}; allowed: two links, inside a node and between nodes"
        )
    return found
