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

    def with_first(first: Path, variable: str) -> str:
        return ":".join(filter(None, (str(first), given.get(variable))))

    null = "TRAINBENCH_NULL_GPU_"
    hidden = ("CUDA_VISIBLE_DEVICES", f"{null}FAULT", f"{null}RATES")
    return {
        **{key: value for key, value in given.items() if key not in hidden},
        "LD_PRELOAD": with_first(library / "libnullcuda.so", "LD_PRELOAD"),
        "LD_LIBRARY_PATH": with_first(library, "LD_LIBRARY_PATH"),
        "TRAINBENCH_NULL_GPU": gpu,
        "TRAINBENCH_NULL_GPU_COUNT": str(count or 1),
    }


def _common_flags(arguments: Arguments, short: Mapping[str, int]) -> list[str]:
    given = [flag.lstrip("-").partition("=")[0] for flag in arguments.flags]
    ranks = [] if arguments.ranks is None else [f"--ranks={arguments.ranks}"]
    return [
        *(f"--{name}={value}" for name, value in short.items() if name not in given),
        *ranks,
        *arguments.flags,
        "--device=cuda",
        "--value_checks=skip",
    ]


def flags(arguments: Arguments, records: Path, result: Path) -> list[str]:
    return [
        *_common_flags(arguments, _SHORT),
        f"--rehearsal={records}",
        f"--benchmark_out={result}",
    ]


def run(
    program: Path, library: Path, arguments: Arguments, records: Path, result: Path
) -> int:
    """Returns the exit status; negative if a signal ended the program.

    The program's progress and its errors go to standard error. Its printed rows are
    dropped: the rehearsal reports more.
    """
    return subprocess.run(
        [program, *flags(arguments, records, result)],
        env=environment(library, arguments.gpu, arguments.ranks, os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=False,
    ).returncode


def predict(
    program: Path, library: Path, arguments: Arguments, rates: Path, result: Path
) -> int:
    """Runs the program with times predicted from a file of rates, and prints its rows.
    `result` is the file of the result if no flag names one. Returns the exit status."""
    out = [f"--benchmark_out={result}"]
    if any(flag.lstrip("-").startswith("benchmark_out=") for flag in arguments.flags):
        out = []
    predicted = {
        "TRAINBENCH_NULL_GPU_RATES": str(rates),
        # SpinKernel ends by its own clock: it takes the time that it is given.
        "TRAINBENCH_NULL_GPU_DURATION": "SpinKernel=arg0",
    }
    return subprocess.run(
        [program, *_common_flags(arguments, _SHORT | {"rounds": 1}), *out],
        env=environment(library, arguments.gpu, arguments.ranks, os.environ)
        | predicted,
        stdin=subprocess.DEVNULL,
        check=False,
    ).returncode
