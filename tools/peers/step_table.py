# SPDX-License-Identifier: MIT
"""Times a step in all our implementations, eager PyTorch and torch.compile.

    .venv/bin/python -m tools.peers.step_table --models=tiny,small --batch=4
    .venv/bin/python -m tools.peers.step_table --mode=train_step --sides=fused

If tools/export_aoti made a package, it is a side, too, compiled ahead of time.
In each round every side runs in a fresh process, in random order. All have the same
number of threads, and keep the pages of freed tensors: otherwise page faults would
dominate on a CPU. Our processes stop by time; PyTorch's make as many calls as our first
one, which is not timed. A ratio is the median over the rounds of (this side's time /
the other side's of the same round), with its interval (reports/compare/intervals.py).
"""

import argparse
import json
import math
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from reports.command import run_main
from reports.compare.argument_types import several
from reports.compare.filters import matching
from reports.compare.intervals import Pair, pair_interval
from reports.results.files import write_files
from reports.results.text import Table
from tools.ab_run.child import Child, interruptible, run_limited
from tools.peers.flags import PRECISIONS, add_shape_flags, make_parser, positive
from tools.peers.pytorch_model import MODELS
from tools.peers.step_sides import (
    COMPILED,
    KEEP_PAGES,
    MODES,
    PYTORCH,
    ROOT,
    Case,
    Outcome,
    case_of,
    outcome_of,
    sides_of,
    work,
)

BINARY = ROOT / "build/release/benchmarks/trainbench"
ALPHA = 0.05  # how often the interval may miss the median


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
        environment = os.environ | both_sides | {"TMPDIR": folder, **(more or {})}
        output, errors = Path(folder, "output"), Path(folder, "errors")
        with output.open("wb") as out, errors.open("wb") as err:
            child = Child(command, out, err, environment, ROOT)
            status = run_limited(child, arguments.timeout)
        if status is None:
            sys.exit(f"{what}: no end within {arguments.timeout} s (--timeout)")
        if status:
            last_words = errors.read_text(errors="replace")[-2000:].strip()
            sys.exit(f"{what}: exit status {status}\n{last_words}")
        return output.read_text()


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


def worker_command(flags: Sequence[str], **more: object) -> list[str]:
    """Returns the command that does PyTorch's part in a process of its own: this module
    with its command line, and with `more`."""
    given = [f"--{key}={value}" for key, value in more.items()]  # the last one counts
    return [sys.executable, "-m", "tools.peers.step_table", *flags, *given]


def counts_of(row: Mapping[str, Any], arguments: argparse.Namespace) -> dict[str, int]:
    """The calls of each of PyTorch's processes: as many as our first, unless given."""
    return {
        "warmups": arguments.warmups or 1 + int(row.get("warmup_calls", 2)),
        "samples": arguments.samples or max(5, int(row.get("samples", 10))),
    }


def run_rounds(
    sides: Sequence[str], rounds: int, run: Callable[[str], Outcome]
) -> dict[str, list[Outcome]]:
    """Runs all sides once per round, in random order; prints the times."""
    print(f"{'round':>5}" + "".join(f"{side + ' us':>14}" for side in sides))
    lot = random.SystemRandom()
    found: dict[str, list[Outcome]] = {side: [] for side in sides}
    for index in range(rounds):
        for side in lot.sample(sides, len(sides)):
            found[side].append(run(side))
        times = "".join(f"{found[side][-1].us:>14.0f}" for side in sides)
        print(f"{index + 1:>5}{times}", flush=True)
    return found


def interval_of(ratios: Sequence[float]) -> tuple[float, float] | None:
    """The interval of the median; None if there are too few rounds."""
    found = pair_interval([Pair(math.log(ratio)) for ratio in ratios], ALPHA)
    return found.ratios if found else None


@dataclass(frozen=True)
class Cell:
    """One side over all rounds."""

    us: float
    v_eager: float
    interval: tuple[float, float] | None  # of v_eager
    v_compile: float | None  # None if torch.compile is no side
    peak_bytes: float
    page_faults: float


def cells_of(found: dict[str, list[Outcome]]) -> dict[str, Cell]:
    def ratios(side: str, other: str) -> list[float]:
        pairs = zip(found[side], found[other], strict=True)
        return [mine.us / theirs.us for mine, theirs in pairs]

    def middle(side: str, field: Callable[[Outcome], float]) -> float:
        return statistics.median(map(field, found[side]))

    cells = {}
    for side in found:
        v_eager = ratios(side, "eager")
        cells[side] = Cell(
            middle(side, lambda outcome: outcome.us),
            statistics.median(v_eager),
            interval_of(v_eager),
            statistics.median(ratios(side, "compile")) if "compile" in found else None,
            middle(side, lambda outcome: outcome.peak_bytes),
            middle(side, lambda outcome: outcome.page_faults),
        )
    return cells


def compare(a: argparse.Namespace, flags: Sequence[str]) -> dict[str, Any]:
    """Compares the sides of one step; `flags` is the command line. Our first process
    only determines the counts."""
    textbook = case_of("textbook", a)
    counts = counts_of(run_ours(textbook, a), a)
    sides = [s for s in sides_of(a.mode) if s in ("textbook", "eager", *a.sides)]
    others = [side for side in sides if side not in ("textbook", *PYTORCH)]
    rows = {side: row_or_reason(case_of(side, a), a) for side in others}
    reasons = {side: row for side, row in rows.items() if isinstance(row, str)}

    def run(side: str) -> Outcome:
        if side not in PYTORCH:
            return outcome_of(run_ours(case_of(side, a), a))
        step = {"worker": side, "models": a.model, "precisions": a.precision}
        command = worker_command(flags, **step, **counts)
        printed = output_of(f"{a.model}, {side}", command, a, KEEP_PAGES | COMPILED)
        return Outcome(**json.loads(printed.splitlines()[-1]))

    print(f"{textbook.name}, {a.threads} threads per process")
    sides = [side for side in sides if side not in reasons]
    found = run_rounds(sides, a.rounds, run)
    return {
        "case": f"{a.model}/{a.precision}/{a.mode}/batch:{a.batch}/seq:{a.seq}",
        **counts,
        "missing": reasons,
        "cells": cells_of(found),
        "rounds": found,
    }


def markdown(results: Sequence[dict[str, Any]]) -> str:
    headings = ["step", "side", "ms", "time / eager", "95 %", "time / compile"]
    headings += ["MiB", "MiB / eager", "faults"]
    lines = [
        [
            result["case"],
            side,
            f"{cell.us / 1e3:.2f}",
            f"{cell.v_eager:.3f}",
            "{:.3f} to {:.3f}".format(*cell.interval) if cell.interval else "-",
            "-" if cell.v_compile is None else f"{cell.v_compile:.3f}",
            f"{cell.peak_bytes / 2**20:.1f}",
            f"{cell.peak_bytes / result['cells']['eager'].peak_bytes:.3f}",
            f"{cell.page_faults:.0f}",
        ]
        for result in results
        for side, cell in result["cells"].items()
    ]
    missing = [
        f"\n{result['case']}, {side}: {reason}"
        for result in results
        for side, reason in result["missing"].items()
    ]
    return "\n".join([Table(headings, lines).compact().markdown(), *missing])


def parse(flags: Sequence[str]) -> argparse.Namespace:
    parser = make_parser("python -m tools.peers.step_table", __doc__)
    add = parser.add_argument
    add("--models", type=several(MODELS), default=["tiny"], help="(tiny)")
    add("--precisions", type=several(PRECISIONS), default=[*PRECISIONS], help="(both)")
    add("--mode", choices=MODES, default="forward_backward", help="(%(default)s)")
    sides = sides_of("train_step")
    sides_help = "besides textbook and eager (all)"
    add("--sides", type=several(sides), default=sides, help=sides_help)
    add_shape_flags(parser, batch=4)
    add("--worker", choices=PYTORCH, help=argparse.SUPPRESS)
    add("--rounds", type=positive, default=6, help="processes per side (%(default)s)")
    add("--threads", type=positive, help="per process (all CPUs that it may use)")
    add("--warmups", type=positive, help="PyTorch's warm-up calls (like our first)")
    add("--samples", type=positive, help="PyTorch's timed calls (like our first)")
    add("--timeout", type=positive, default=600, help="s per process (%(default)s)")
    add("--binary", type=Path, default=BINARY, help="our program (the one in build/)")
    add("--json", type=Path, help="also write the result here")
    arguments = parser.parse_args(flags)
    if not arguments.worker and not arguments.binary.is_file():
        parser.error(f"--binary={arguments.binary}: no such file; run tools/bench once")
    arguments.threads = arguments.threads or len(os.sched_getaffinity(0))
    return arguments


@interruptible()
def main(flags: Sequence[str]) -> None:
    arguments = parse(flags)
    results = []
    for model in arguments.models:
        for precision in arguments.precisions:
            arguments.model, arguments.precision = model, precision
            if arguments.worker:
                print(json.dumps(asdict(work(arguments))))
                return
            results.append(compare(arguments, flags))
    print("\n" + markdown(results))
    if arguments.json:
        document = {
            "torch": torch.__version__,
            "threads": arguments.threads,
            "steps": results,
        }
        text = json.dumps(document, indent=2, default=asdict) + "\n"
        write_files({arguments.json: text})


if __name__ == "__main__":
    run_main("step_table", main)
