# SPDX-License-Identifier: MIT
"""Runs cases of this suite and the same work in PyTorch, in fresh processes.

All have the same number of threads, warm-up calls and samples. In each round every side
runs once, in random order. A ratio is the median over the rounds, with its interval
(reports/compare/intervals.py).
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from reports.compare.filters import matching
from reports.compare.intervals import Pair, pair_interval
from tools.ab_run.child import kill
from tools.peers.flags import positive

ROOT = Path(__file__).resolve().parents[2]
BINARY = ROOT / "build/release/benchmarks/trainbench"
T = TypeVar("T")
ALPHA = 0.05  # how often the interval may miss the median


@dataclass(frozen=True)
class Case:
    name: str  # in this suite
    flags: list[str]  # for which our program has the case


def output_of(
    what: str,
    command: Sequence[str | Path],
    arguments: argparse.Namespace,
    more: Mapping[str, str] | None = None,
) -> str:
    """Runs a command with `more` in its environment, and returns its standard output.

    Exits with the reason if the process fails or hangs.
    """
    threads = str(arguments.threads)
    both_sides = {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=os.environ | both_sides | {"TMPDIR": folder, **(more or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(timeout=arguments.timeout)
        except subprocess.TimeoutExpired:
            sys.exit(f"{what}: no end within {arguments.timeout} s (--timeout)")
        finally:
            kill(process)  # its children too
    if process.returncode:
        last_words = errors[-2000:].strip()
        sys.exit(f"{what}: exit status {process.returncode}\n{last_words}")
    return output


def row_or_reason(case: Case, arguments: argparse.Namespace) -> dict[str, Any] | str:
    """The case's row from a fresh process of the built program, or why it was
    skipped."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "result.json")
        command = [
            arguments.binary.resolve(),
            f"--benchmark_filter={matching([case.name])}",
            f"--benchmark_out={out}",
            f"--samples_out={Path(folder, 'samples.jsonl')}",
            f"--threads={arguments.threads}",
            *case.flags,
        ]
        output_of(f"{case.name}, ours", command, arguments)
        result: dict[str, Any] = json.loads(out.read_text())
    for row in result["benchmarks"]:
        return dict(row)
    return str(result["skipped"][0]["reason"])


def run_ours(case: Case, arguments: argparse.Namespace) -> dict[str, Any]:
    """The row of the case; exits with the reason if there is none."""
    row = row_or_reason(case, arguments)
    if isinstance(row, str):
        sys.exit(f"{case.name}: {row}")
    return row


def run_rounds(
    sides: Sequence[str],
    rounds: int,
    run: Callable[[str], T],
    us_of: Callable[[T], float],
) -> dict[str, list[T]]:
    """Runs all sides once per round, in random order; prints the times."""
    print(f"{'round':>5}" + "".join(f"{side + ' us':>14}" for side in sides))
    lot = random.SystemRandom()
    found: dict[str, list[T]] = {side: [] for side in sides}
    for index in range(rounds):
        for side in lot.sample(sides, len(sides)):
            found[side].append(run(side))
        times = "".join(f"{us_of(found[side][-1]):>14.0f}" for side in sides)
        print(f"{index + 1:>5}{times}", flush=True)
    return found


def interval_of(ratios: Sequence[float]) -> tuple[float, float] | None:
    """The interval of the median; None if there are too few rounds."""
    found = pair_interval([Pair(math.log(ratio)) for ratio in ratios], ALPHA)
    return found.ratios if found else None


def counts_of(row: Mapping[str, Any], arguments: argparse.Namespace) -> dict[str, int]:
    """The calls of each of PyTorch's processes: as many as ours, unless given."""
    return {
        "warmups": arguments.warmups or 1 + int(row.get("warmup_calls", 2)),
        "samples": arguments.samples or max(5, int(row.get("samples", 10))),
    }


def worker_command(module: str, flags: Sequence[str], **more: object) -> list[str]:
    """Returns the command that does PyTorch's part in a process of its own: `module`
    with its command line, and with `more`."""
    given = [f"--{key}={value}" for key, value in more.items()]  # the last one counts
    return [sys.executable, "-m", f"tools.peers.{module}", *flags, *given]


def parse_common(
    parser: argparse.ArgumentParser, flags: Sequence[str]
) -> argparse.Namespace:
    """Adds the flags that all peers have, and parses; the parser has --worker."""
    add = parser.add_argument
    add("--rounds", type=positive, default=6, help="processes per side (%(default)s)")
    add("--threads", type=positive, help="per process (a share of the cores)")
    add("--warmups", type=positive, help="PyTorch's warm-up calls (as many as ours)")
    add("--samples", type=positive, help="PyTorch's timed calls (as many as ours)")
    add("--timeout", type=positive, default=600, help="s per process (%(default)s)")
    add("--binary", type=Path, default=BINARY, help="our program (the one in build/)")
    add("--json", type=Path, help="also write the result here")
    arguments = parser.parse_args(flags)
    if not arguments.worker and not arguments.binary.is_file():
        parser.error(f"--binary={arguments.binary}: no such file; run tools/bench once")
    return arguments
