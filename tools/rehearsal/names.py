# SPDX-License-Identifier: MIT
"""Names of kernels, short enough for a line."""

import re

from tools.rehearsal.records import Kernel

_NOISE = re.compile(
    r"^void |\(anonymous namespace\)::|<unnamed>::|\b(?:at|c10|native|cuda|std)::"
)


def bare(kernel: str) -> str:
    """The function alone: no types, no arguments, no namespaces."""
    name = _NOISE.sub("", kernel)
    return re.split(r"[<(]", name, maxsplit=1)[0].rpartition("::")[2]


def family(kernel: Kernel) -> str:
    """A matrix product's arithmetic, or the function that other kernels share."""
    if kernel.family == "other":
        return bare(kernel.name)
    return f"{kernel.family} product"


def shortened(kernel: str, width: int) -> str:
    """The name without namespaces and arguments, cut to `width`."""
    name = _NOISE.sub("", kernel)
    depth = 0
    for at, character in enumerate(name):
        # "(" among the types begins no arguments.
        depth += (character == "<") - (character == ">")
        if character == "(" and depth == 0:
            name = name[:at]
            break
    return name if len(name) <= width else name[: width - 3] + "..."
