# SPDX-License-Identifier: MIT
"""Command-line flags that several tools share."""

import argparse

from reports.compare.argument_types import number

PRECISIONS = ("fp32", "bf16_autocast")
positive = number(1, 2**40, whole=True)


def make_parser(program: str, description: str) -> argparse.ArgumentParser:
    """Makes a parser; help shows `program` and the first line of the description."""
    return argparse.ArgumentParser(
        prog=program, description=description.splitlines()[0], allow_abbrev=False
    )


def add_shape_flags(parser: argparse.ArgumentParser, *, batch: int = 1) -> None:
    """Adds the flags for the tokens of a step, and for its device."""
    add = parser.add_argument
    add("--batch", type=positive, default=batch, help="sequences (%(default)s)")
    add("--seq", type=positive, default=128, help="tokens per sequence (%(default)s)")
    add("--device", choices=("cpu", "cuda"), default="cpu", help="(%(default)s)")
