# SPDX-License-Identifier: MIT
"""Which steps run, and how the program's flags choose one of them."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Its rows profile nothing themselves: a process can have one tool that uses CUPTI.
EXPERIMENT = "model_size"
DIVIDED = "breakdown"
FILTER = "--benchmark_filter="


class Refused(Exception):
    """The program chose no case; the text says why."""


def only(pattern: str, flags: Sequence[str]) -> list[str]:
    """The flags with this filter and on a GPU."""
    kept = [flag for flag in flags if not flag.startswith(FILTER)]
    return [*kept, "--device=cuda", f"{FILTER}{pattern}"]


def cases(program: Path, flags: Sequence[str]) -> list[str]:
    """The names of the chosen steps. Errors: Refused."""
    chosen = [flag for flag in flags if flag.startswith(FILTER)]
    pattern = chosen[-1].removeprefix(FILTER) if chosen else f"^{EXPERIMENT}/"
    done = subprocess.run(
        [program, *only(pattern, flags), "--benchmark_list_tests"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise Refused("the program has no such case")  # and has said why
    names = done.stdout.split()
    other = [name for name in names if not name.startswith(f"{EXPERIMENT}/")]
    if other:
        raise Refused(f"{other[0]} is chosen; allowed: cases of {EXPERIMENT}")
    return names


def exactly(name: str) -> str:
    """A filter for one case. A name has no other character with a meaning."""
    return "^" + name.replace(".", "\\.") + "$"


def divided(names: Sequence[str]) -> str:
    """A filter for the breakdowns of the same steps."""
    steps = []
    for name in names:
        _, model, precision, mode, *shape = name.replace(".", "\\.").split("/")
        step = "/".join((model, precision, mode))
        steps.append(f"{step}/[^/]+/[^/]+/{'/'.join(shape)}($|/)")
    return f"^{DIVIDED}/({'|'.join(steps)})"


def folder(name: str) -> str:
    """A case's name as the name of a folder."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)
