# SPDX-License-Identifier: MIT
"""Runs the program on null GPUs."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tools.rehearsal.arguments import Arguments

# Times are not measured: the fewest samples are enough.
_SHORT = {"warmup": 0, "benchmark_min_time": 0}


def environment(
    library: Path, gpu: str, count: int | None, given: Mapping[str, str]
) -> dict[str, str]:
    """The environment in which a program finds null GPUs (default: one) and no real
    ones. `library` is the directory of libnullcuda.so and libcuda.so.1."""

    def with_first(first: str, variable: str) -> str:
        return ":".join(filter(None, (first, given.get(variable))))

    null = "TRAINBENCH_NULL_GPU_"
    hidden = ("CUDA_VISIBLE_DEVICES", f"{null}FAULT", f"{null}RATES")
    return {
        **{key: value for key, value in given.items() if key not in hidden},
        # Without the folder, because a space in its path would separate two names.
        "LD_PRELOAD": with_first("libnullcuda.so", "LD_PRELOAD"),
        "LD_LIBRARY_PATH": with_first(str(library), "LD_LIBRARY_PATH"),
        "TRAINBENCH_NULL_GPU": gpu,
        "TRAINBENCH_NULL_GPU_COUNT": str(count or 1),
    }


def flags(arguments: Arguments, *own: str) -> list[str]:
    """The program's flags: what a rehearsal needs, `own`, and the user's flags. These
    come last, so that a word without a dash there is the user's."""
    short = _SHORT | ({"rounds": 1} if arguments.predicts else {})
    ranks = [] if arguments.ranks is None else [f"--ranks={arguments.ranks}"]
    return [
        *(f"--{name}={short[name]}" for name in short if name not in arguments.names),
        *ranks,
        "--device=cuda",
        "--value_checks=skip",
        *own,
        *arguments.flags,
    ]


def run(
    program: Path, library: Path, arguments: Arguments, *own: str, **variables: str
) -> int:
    """Runs the program with its `own` flags and more variables of its environment.
    Returns its exit status; negative if a signal ended it.

    The program's progress and its errors go to standard error. Its rows are printed if
    it predicts times, and dropped otherwise: the rehearsal reports more.
    """
    return subprocess.run(
        [program, *flags(arguments, *own)],
        env=environment(library, arguments.gpu, arguments.ranks, os.environ)
        | variables,
        stdin=subprocess.DEVNULL,
        stdout=None if arguments.predicts else subprocess.DEVNULL,
        check=False,
    ).returncode
