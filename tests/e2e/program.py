# SPDX-License-Identifier: MIT
"""Runs the built programs as a user does."""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from processes import Finished, Started, run, started
from tools.prove import steps

Json = dict[str, Any]
Rehearse = Callable[..., list[Json]]

# The files of a run: its result and its samples.
OUT = "--benchmark_out=a.json"
SAMPLES = "--samples_out=a.jsonl"
# The least warm-up and sampling.
FAST = ("--warmup=1", "--benchmark_min_time=0.001")
# So small that a run takes little longer than starting the program.
NANO_MODEL = "--model=name=nano,d_model=16,d_ff=32,layers=1,heads=2,vocab=64"
NANO = ("--models=nano", NANO_MODEL, "--batch=1", "--seq=8", "--suite=smoke", *FAST)
# For runs of all experiments.
SMOKE = (*steps.NANO.split(), "--suite=smoke")
# One case with the model of NANO.
NANO_FORWARD = (*NANO, "--benchmark_filter=^model_size/nano/fp32/forward/")
NANO_FORWARD_NAME = "model_size/nano/fp32/forward/batch:1/seq:8"


def without(flags: tuple[str, ...], *names: str) -> list[str]:
    """Returns the flags without `names`, since our flags must not be given twice."""
    return [flag for flag in flags if flag.partition("=")[0] not in names]


@dataclass(frozen=True)
class Program:
    path: Path
    directory: Path  # the working directory

    def command(self, *flags: str) -> list[str]:
        """Returns the command: one thread on the CPU, unless `flags` say otherwise."""
        fixed = {"--device": "cpu", "--threads": "1"}
        given = {flag.partition("=")[0] for flag in flags}
        added = [f"{k}={v}" for k, v in fixed.items() if k not in given]
        return [str(self.path), *added, *flags]

    def environment(self, extra: dict[str, str] | None = None) -> dict[str, str]:
        """Returns our environment without variables that act as flags."""
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("BENCHMARK_") and key != "NO_COLOR"
        }
        return kept | (extra or {})

    def run(
        self,
        *flags: str,
        code: int | None = 0,
        env: dict[str, str] | None = None,
        preexec: Callable[[], None] | None = None,
    ) -> Finished:
        """Runs the program, which must end with this exit status, if any is given."""
        return run(
            *self.command(*flags),
            status=code,
            cwd=self.directory,
            env=self.environment(env),
            preexec=preexec,
        )

    def measure(
        self, *flags: str, code: int = 0, env: dict[str, str] | None = None
    ) -> Json:
        """Returns the result of a run with this exit status."""
        self.run(*flags, OUT, code=code, env=env)
        return self.result()

    def result(self) -> Json:
        """Returns the result of the last run with OUT."""
        return load(self.directory / "a.json")

    def samples(self) -> list[Json]:
        """Returns the lines of the last run with SAMPLES."""
        return load_lines(self.directory / "a.jsonl")

    def started(
        self,
        *flags: str,
        prefix: Sequence[str] = ("env", "--default-signal=HUP"),
        stdout: int = subprocess.DEVNULL,
    ) -> Started:
        """Starts the program in a new session, and kills it in the end."""
        command = (*prefix, *self.command(*flags))
        env = self.environment()
        return started(*command, cwd=self.directory, env=env, stdout=stdout)


def load(path: Path) -> Json:
    """Parses strict JSON: by default Python would accept NaN and Infinity."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    document: Json = json.loads(path.read_text(), parse_constant=refuse)
    return document


def load_lines(path: Path) -> list[Json]:
    """Parses a log with an object in each line."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def names(rows: list[Json]) -> list[str]:
    return [row["name"] for row in rows]


def measured(document: Json) -> list[Json]:
    """Returns the rows of the runs, without aggregates."""
    return [r for r in document["benchmarks"] if r["run_type"] == "iteration"]
