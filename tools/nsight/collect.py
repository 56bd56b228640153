# SPDX-License-Identifier: MIT
"""Runs Nsight Systems, and keeps its summaries as CSV."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from reports.results.files import write_files

REPORTS = (
    "osrt_sum",
    "cuda_api_sum",
    "cuda_gpu_kern_sum",
    "cuda_gpu_mem_time_sum",
    "cuda_gpu_mem_size_sum",
)


class Failed(Exception):
    """A step or a summary; the text says which command."""


def _run(command: Sequence[str | Path], output: int | None) -> str:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=output, text=True, check=False
    )
    if done.returncode != 0:
        shown = " ".join(str(word) for word in command)
        raise Failed(f"status {done.returncode} of {shown}")
    return done.stdout or ""


def _csv(printed: str) -> str:
    """From the heading on. nsys says in a sentence that it has nothing to sum."""
    lines = printed.splitlines()
    first = next((at for at, line in enumerate(lines) if line.count(",") > 2), None)
    return "" if first is None else "\n".join(lines[first:]).rstrip() + "\n"


def profile(directory: Path, program: Path, flags: Sequence[str]) -> list[Path]:
    """The summaries of one run of the program that have a row. Errors: Failed,
    OSError."""
    directory.mkdir(parents=True, exist_ok=True)
    stem = directory / "step"
    tool = ["nsys", "profile", "--trace=cuda,nvtx,osrt", "--force-overwrite=true"]
    _run([*tool, f"--output={stem}", program, *flags], subprocess.DEVNULL)
    written = []
    for report in REPORTS:
        printed = _run(
            [
                *("nsys", "stats", "--quiet", "--force-export=true"),
                *(f"--report={report}", "--format=csv", "--output=-"),
                stem.with_suffix(".nsys-rep"),
            ],
            subprocess.PIPE,
        )
        path = directory / f"{report}.csv"
        write_files({path: _csv(printed)})
        if path.stat().st_size:
            written.append(path)
    return written
