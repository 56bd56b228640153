# SPDX-License-Identifier: MIT
"""Runs the program on null GPUs."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tools.rehearsal.arguments import Arguments

# Times are not measured: the fewest samples are enough.
_SHORT = ("warmup", "benchmark_min_time")


def environment(
    library: Path, arguments: Arguments, given: Mapping[str, str]
) -> dict[str, str]:
    """The environment in which a program finds null GPUs and no real ones.

    `library` is the directory of libnullcuda.so and libcuda.so.1.
    """

    def with_first(first: Path, variable: str) -> str:
        return ":".join(filter(None, (str(first), given.get(variable))))

    hidden = ("CUDA_VISIBLE_DEVICES", "TRAINBENCH_NULL_GPU_FAULT")
    return {
        **{key: value for key, value in given.items() if key not in hidden},
        "LD_PRELOAD": with_first(library / "libnullcuda.so", "LD_PRELOAD"),
        "LD_LIBRARY_PATH": with_first(library, "LD_LIBRARY_PATH"),
        "TRAINBENCH_NULL_GPU": arguments.gpu,
        "TRAINBENCH_NULL_GPU_COUNT": str(arguments.ranks or 1),
    }


def flags(arguments: Arguments, records: Path, result: Path) -> list[str]:
    given = [flag.lstrip("-").partition("=")[0] for flag in arguments.flags]
    short = [f"--{name}=0" for name in _SHORT if name not in given]
    ranks = [] if arguments.ranks is None else [f"--ranks={arguments.ranks}"]
    return [
        *short,
        *ranks,
        *arguments.flags,
        "--device=cuda",
        "--value_checks=skip",
        f"--rehearsal={records}",
        f"--benchmark_out={result}",
    ]


def run(
    program: Path, library: Path, arguments: Arguments, records: Path, result: Path
) -> int:
    """Returns the exit status; negative if a signal ended the program.

    The program's progress and its errors go to standard error. The rows that it prints
    are left out: the rehearsal says more.
    """
    return subprocess.run(
        [program, *flags(arguments, records, result)],
        env=environment(library, arguments, os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    ).returncode
