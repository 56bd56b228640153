# SPDX-License-Identifier: MIT
"""Runs the built programs from outside, as a user would."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tools.prove import steps

Json = dict[str, Any]

# So small that a run takes little longer than the start of the program.
NANO = (
    "--models=nano",
    "--model=name=nano,d_model=16,d_ff=32,layers=1,heads=2,vocab=64",
    "--batch=1",
    "--seq=8",
    "--suite=smoke",
    "--warmup=1",
    "--benchmark_min_time=0.001",
)
# For runs of all experiments.
SMOKE = (*steps.NANO.split(), "--suite=smoke")
# One case of the model of NANO.
NANO_FORWARD = (*NANO, "--benchmark_filter=^model_size/nano/fp32/forward/")
NANO_FORWARD_NAME = "model_size/nano/fp32/forward/batch:1/seq:8"


def without(flags: tuple[str, ...], *names: str) -> list[str]:
    """One of our own flags may not be given twice."""
    return [flag for flag in flags if flag.partition("=")[0] not in names]


@dataclass(frozen=True)
class Finished:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Program:
    path: Path
    directory: Path  # where it runs

    def command(self, *flags: str) -> list[str]:
        """The same everywhere: one thread, and no GPU even where there is one."""
        fixed = {"--device": "cpu", "--threads": "1"}
        given = {flag.partition("=")[0] for flag in flags}
        added = [f"{k}={v}" for k, v in fixed.items() if k not in given]
        return [str(self.path), *added, *flags]

    def environment(self, extra: dict[str, str] | None = None) -> dict[str, str]:
        """Ours, without what would act as a flag."""
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("BENCHMARK_") and key != "NO_COLOR"
        }
        return kept | (extra or {})

    def run(
        self,
        *flags: str,
        env: dict[str, str] | None = None,
        preexec: Callable[[], None] | None = None,
        timeout: float = 600,  # long, as the machine may be busy
    ) -> Finished:
        done = subprocess.run(
            self.command(*flags),
            cwd=self.directory,
            env=self.environment(env),
            preexec_fn=preexec,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    def start(self, *flags: str) -> subprocess.Popen[str]:
        """In a session of its own; its standard output is not kept."""
        return subprocess.Popen(
            self.command(*flags),
            cwd=self.directory,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


def binary(variable: str) -> Path:
    path = os.environ.get(variable)
    if not path:
        pytest.skip(f"{variable} does not name a built program")
    return Path(path).resolve(strict=True)


def load(path: Path) -> Json:
    """Strict JSON: Python by itself would take NaN and Infinity."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    document: Json = json.loads(path.read_text(), parse_constant=refuse)
    return document


def names(rows: list[Json]) -> list[str]:
    return [row["name"] for row in rows]


def measured(document: Json) -> list[Json]:
    """The rows of the runs, without the aggregates."""
    return [r for r in document["benchmarks"] if r["run_type"] == "iteration"]
