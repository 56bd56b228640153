# SPDX-License-Identifier: MIT
"""Writes paper_suite.txt, the list of every case of the paper suite on a CPU. Its first
lines have the command that calls this script."""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from case_patterns import compress, expand, unwrapped, wrapped

PATH = Path(__file__).with_name("paper_suite.txt")
NATIVE = "native_bf16: "  # before a pattern that needs bf16 instructions
PROGRAM = "build/release/benchmarks/trainbench"
COMMAND = f".venv/bin/python tests/data/make_paper_suite.py {PROGRAM}"
_HEADER = f"""\
# Every case of --suite=paper on a CPU. Generated: after a change of a sweep run
#   {COMMAND}
# and look at the difference.
#
# {{a,b}} and {{0..3}} stand for one each; an indented line continues the one above.
# What follows "native_bf16:" is there where the CPU has bf16 instructions: those words
# are the only ones written by hand, and stay.
"""


def read() -> tuple[set[str], set[str]]:
    """The cases of every CPU, and those that need bf16 instructions."""
    every, native = set[str](), set[str]()
    for pattern in unwrapped(PATH.read_text(encoding="utf-8")):
        rows = native if pattern.startswith(NATIVE) else every
        names = set(expand(pattern.removeprefix(NATIVE)))
        if names & (every | native):
            raise ValueError(f"{pattern} repeats a case")
        rows |= names
    return every, native


def text_of(every: set[str], native: set[str]) -> str:
    patterns = [NATIVE + pattern for pattern in compress(native)]
    patterns += compress(every)
    return _HEADER + "".join(f"\n{wrapped(pattern)}" for pattern in patterns) + "\n"


def main(program: str) -> None:
    listed = subprocess.run(
        [program, "--suite=paper", "--device=cpu", "--benchmark_list_tests"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    _, native = read()
    PATH.write_text(text_of(set(listed) - native, native), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
