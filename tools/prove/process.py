# SPDX-License-Identifier: MIT
"""Runs a step: its command line on this machine, its environment, its time limit."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from reports.compare.filters import matching
from tools.ab_run.child import Child, run_limited
from tools.prove.steps import Step
from tools.rehearsal.run import environment as null_environment

# Where toolkits are, if they are not in PATH.
_TOOLKIT = "/usr/local/cuda/bin"
_MOST_GRACE = 10.0  # seconds between SIGTERM and SIGKILL


@dataclass(frozen=True)
class Place:
    pack: Path  # where steps run, so that their results have no path of the machine
    state: Path
    null_gpu: Path | None = None  # the folder of its libraries, in a rehearsal
    patience: float = 1  # times each limit: a null GPU is as slow as its CPU is busy
    pattern: str = ""  # of cases to run; with a leading -, of cases to leave out

    @property
    def path(self) -> str:
        return os.environ.get("PATH", os.defpath) + os.pathsep + _TOOLKIT


def why_not(step: Step, place: Place) -> str:
    """Why the step cannot run here, or ""."""
    if place.null_gpu is not None and step.null is None:
        return "a null GPU computes nothing"
    for program in step.programs:
        if shutil.which(program, path=place.path) is None:
            return f"no {program} here"
    for module in step.modules:
        if importlib.util.find_spec(module) is None:
            return f"{sys.executable} has no {module}"
    return ""


def environment_of(step: Step, place: Place) -> dict[str, str]:
    given = {**os.environ, "PATH": place.path, **step.environment}
    if place.null_gpu is None:
        return given
    null = null_environment(place.null_gpu, "h200", 1, given)
    return null | dict(step.null_environment)


def _names(command: Sequence[str], step: Step, place: Place) -> list[str]:
    """The names of the command's cases. Errors: OSError, SubprocessError."""
    program = command[command.index("bin/trainbench") :]
    return subprocess.run(
        [*program, "--benchmark_list_tests"],
        cwd=place.pack,
        env=environment_of(step, place),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.split()


def _filtered(command: list[str], step: Step, place: Place) -> list[str]:
    """The command with the cases that the place's pattern leaves; empty if none."""
    joined = "|".join(step.patterns)
    chosen = [*command, f"--benchmark_filter=^({joined})"] if joined else command
    if step.unfiltered or not place.pattern:
        return chosen
    matched = not place.pattern.startswith("-")
    pattern = re.compile(place.pattern.removeprefix("-"))
    names = _names(chosen, step, place)
    kept = [name for name in names if bool(pattern.search(name)) == matched]
    return [*command, f"--benchmark_filter={matching(kept)}"] if kept else []


def command_of(step: Step, place: Place, out: Path) -> list[str]:
    """The command line of a step, for the folder of the pack; empty if the pattern
    leaves no case.

    Errors: OSError, SubprocessError if cases cannot be listed.
    """
    names = {
        "{bin}": "bin",
        "{out}": os.path.relpath(out, place.pack),
        "{state}": os.path.relpath(place.state, place.pack),
        "{python}": sys.executable,
    }
    known = step.real if place.null_gpu is None else (step.null or ())
    if step.resumes and Path(step.resumes.replace("{out}", str(out))).is_file():
        known = (*known, f"--resume={step.resumes}")
    command = []
    for word in (*step.command, *known):
        for name, value in names.items():
            word = word.replace(name, value)
        command.append(word)
    return _filtered(command, step, place) if step.of_cases else command


def run(
    command: Sequence[str], step: Step, place: Place, log: IO[bytes], seconds: float
) -> int | None:
    """Runs a step's command and returns its status; kills it and its children at the
    limit, and returns None. Errors: OSError."""
    grace = min(_MOST_GRACE, seconds / 10)
    child = Child(command, log, log, environment_of(step, place), place.pack)
    return run_limited(child, seconds - grace, grace)
