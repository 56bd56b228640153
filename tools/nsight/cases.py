# SPDX-License-Identifier: MIT
"""Chooses the steps, and runs each under Nsight Systems."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from reports.compare.filters import escaped
from reports.results.files import write_files
from reports.results.refused import Refused

# Its rows do not profile: a process can have only one tool that uses CUPTI.
EXPERIMENT = "model_size"
DIVIDED = "breakdown"


def only(pattern: str, flags: Sequence[str]) -> list[str]:
    """The flags with this filter and on a GPU."""
    return [*flags, "--device=cuda", f"--benchmark_filter={pattern}"]


def cases(program: Path, pattern: str, flags: Sequence[str]) -> list[str]:
    """The names of the chosen steps. Errors: Refused."""
    done = subprocess.run(
        [program, *only(pattern, flags), "--benchmark_list_tests"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise Refused("the program has no such case")  # it printed the reason
    names = done.stdout.split()
    other = [name for name in names if not name.startswith(f"{EXPERIMENT}/")]
    if other:
        raise Refused(f"{other[0]} is chosen; allowed: cases of {EXPERIMENT}")
    return names


def divided(names: Sequence[str]) -> str:
    """A filter for the breakdowns of the same steps."""
    steps = []
    for name in names:
        _, model, precision, mode, *shape = escaped(name).split("/")
        step = "/".join((model, precision, mode))
        steps.append(f"{step}/[^/]+/[^/]+/{'/'.join(shape)}($|/)")
    return f"^{DIVIDED}/({'|'.join(steps)})"


def folder(name: str) -> str:
    """A case's name as the name of a folder."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)


REPORTS = (
    "osrt_sum",
    "cuda_api_sum",
    "cuda_gpu_kern_sum",
    "cuda_gpu_mem_time_sum",
    "cuda_gpu_mem_size_sum",
)


def _output_of(*command: str | Path) -> str:
    """Runs the command. Errors: CalledProcessError, OSError."""
    null, pipe = subprocess.DEVNULL, subprocess.PIPE
    done = subprocess.run(command, stdin=null, stdout=pipe, text=True, check=True)
    return done.stdout


def _csv(printed: str) -> str:
    """The lines from the heading on; "" if nsys only says that there is no data."""
    lines = printed.splitlines()
    first = next((at for at, line in enumerate(lines) if line.count(",") > 2), None)
    return "" if first is None else "\n".join(lines[first:]).rstrip() + "\n"


def profile(directory: Path, program: Path, flags: Sequence[str]) -> list[Path]:
    """Profiles one run of the program; returns the summaries that have a row. Errors:
    CalledProcessError, OSError."""
    directory.mkdir(parents=True, exist_ok=True)
    stem = directory / "step"
    command = ["nsys", "profile", "--trace=cuda,nvtx,osrt", "--force-overwrite=true"]
    command += [f"--output={stem}", str(program), *flags]
    # Not to a pipe, which would stay open for processes that nsys leaves running.
    null = subprocess.DEVNULL
    subprocess.run(command, stdin=null, stdout=null, check=True)
    written = []
    for report in REPORTS:
        printed = _output_of(
            *("nsys", "stats", "--quiet", "--force-export=true"),
            *(f"--report={report}", "--format=csv", "--output=-"),
            stem.with_suffix(".nsys-rep"),
        )
        path = directory / f"{report}.csv"
        write_files({path: _csv(printed)})
        if path.stat().st_size:
            written.append(path)
    return written
