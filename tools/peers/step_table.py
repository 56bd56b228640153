# SPDX-License-Identifier: MIT
"""Times a step in all our implementations, eager PyTorch and torch.compile.

    .venv/bin/python -m tools.peers.step_table --models=tiny,small --batch=4
    .venv/bin/python -m tools.peers.step_table --mode=train_step --sides=fused

If tools/export_aoti made a package, it is a side, too, compiled ahead of time.
In each round every side runs in a fresh process, in random order. All have the same
number of threads and keep the pages of freed tensors: otherwise page faults would
dominate on a CPU. A ratio is the median over the rounds of (this side's time / the
other side's time of the same round).
"""

import argparse
import json
import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from reports.command import run_main
from reports.compare.argument_types import several
from reports.results.files import write_files
from reports.results.text import Table
from tools.peers.flags import PRECISIONS, add_shape_flags, make_parser
from tools.peers.interleaved import (
    counts_of,
    interval_of,
    output_of,
    parse_common,
    row_or_reason,
    run_ours,
    run_rounds,
    worker_command,
)
from tools.peers.pytorch_model import MODELS
from tools.peers.step_sides import (
    COMPILED,
    KEEP_PAGES,
    MODES,
    PYTORCH,
    Outcome,
    case_of,
    outcome_of,
    sides_of,
    work,
)


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
        command = worker_command("step_table", flags, **step, **counts)
        printed = output_of(f"{a.model}, {side}", command, a, KEEP_PAGES | COMPILED)
        return Outcome(**json.loads(printed.splitlines()[-1]))

    print(f"{textbook.name}, {a.threads} threads per process")
    sides = [side for side in sides if side not in reasons]
    found = run_rounds(sides, a.rounds, run, lambda outcome: outcome.us)
    return {
        "case": f"{a.model}/{a.precision}/{a.mode}/batch:{a.batch}/seq:{a.seq}",
        **counts,
        "missing": reasons,
        "cells": cells_of(found),
        "rounds": found,
    }


def markdown(results: Sequence[dict[str, Any]]) -> str:
    headings = ["step", "side", "ms", "/ eager", "95 %", "/ compile", "MiB"]
    headings += ["/ eager", "faults"]
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
    return "\n".join([Table(headings, lines).markdown(), *missing])


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
    arguments = parse_common(parser, flags)
    arguments.threads = arguments.threads or len(os.sched_getaffinity(0))
    return arguments


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
