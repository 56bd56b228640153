# SPDX-License-Identifier: MIT
"""Command-line flags that several tools share."""

import argparse

PRECISIONS = ("fp32", "bf16_autocast")


def positive(text: str) -> int:
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: a whole number above 0")
    return int(text)


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
