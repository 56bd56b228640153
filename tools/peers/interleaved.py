# SPDX-License-Identifier: MIT
"""What the peers share: a case of this suite timed beside something else.

Both sides run in fresh processes in the order A B B A ..., so that neither side
profits from a warm machine. The answer is the median over the rounds of
(our time / their time).
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BINARY = ROOT / "build" / "release" / "benchmarks" / "trainbench"


@dataclass(frozen=True)
class Round:
    ours_us: float
    theirs_us: float

    @property
    def ratio(self) -> float:
        return self.ours_us / self.theirs_us


def environment(threads: int) -> dict[str, str]:
    """The same thread count for both sides, through the same channel."""
    count = str(threads)
    return os.environ | {"OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count}


def run_ours(
    binary: Path,
    name: str,
    flags: Sequence[str],
    environ: dict[str, str],
    timeout_s: float | None = None,
) -> dict[str, Any]:
    """The row of the case, measured by a fresh process of the built program.

    Exits with the reason if there is not exactly one row, or no end in time.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "result.json")
        command = [
            str(binary.resolve()),
            # Google Benchmark appends run options to the name it matches.
            f"--benchmark_filter=^{re.escape(name)}(/(iterations|manual_time).*)?$",
            f"--benchmark_out={out}",
            f"--samples_out={Path(folder, 'samples.jsonl')}",
            *flags,
        ]
        try:
            result = subprocess.run(
                command,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=timeout_s,
            )
        except subprocess.TimeoutExpired:
            sys.exit(f"{name}: no end within {timeout_s:g} s of {' '.join(command)}")
        rows = []
        if result.returncode == 0 and out.exists():
            rows = json.loads(out.read_text())["benchmarks"]
    if len(rows) != 1:
        sys.exit(
            f"{name}: expected one row, got {len(rows)} (exit status "
            f"{result.returncode}) from {' '.join(command)}\n{result.stdout[-2000:]}"
        )
    if rows[0]["time_unit"] != "us":
        sys.exit(f"{name}: time unit is {rows[0]['time_unit']}, expected us")
    return rows[0]


def run_rounds(
    peer: str, count: int, ours: Callable[[], float], theirs: Callable[[], float]
) -> list[Round]:
    """Runs and prints `count` rounds; times in us. The first process is ours."""
    print(f"{'round':>5} {'ours us':>12} {peer + ' us':>12} {'ours/' + peer:>11}")
    rounds = []
    for index in range(count):
        if index % 2 == 0:
            ours_us = ours()
            one = Round(ours_us, theirs())
        else:
            theirs_us = theirs()
            one = Round(ours(), theirs_us)
        rounds.append(one)
        times = f"{one.ours_us:>12.0f} {one.theirs_us:>12.0f}"
        print(f"{index + 1:>5} {times} {one.ratio:>11.3f}", flush=True)
    ratio = median_ratio(rounds)
    print(f"median ours/{peer}: {ratio:.3f} (below 1: ours is faster)")
    return rounds


def median_ratio(rounds: Sequence[Round]) -> float:
    return statistics.median(one.ratio for one in rounds)


def as_json(rounds: Sequence[Round], peer: str) -> list[dict[str, float]]:
    """The rounds with their side named `peer`, for a result file."""
    return [
        {
            "ours_us": one.ours_us,
            f"{peer}_us": one.theirs_us,
            "ratio": one.ratio,
        }
        for one in rounds
    ]
