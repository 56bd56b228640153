# SPDX-License-Identifier: MIT
"""The command tools/rehearse."""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess

from reports.command import run_main
from reports.results.rows import NotAResult, load
from tools.planner.arguments import run_program
from tools.planner.timing.rates import devices
from tools.rehearsal import mesh, text
from tools.rehearsal.arguments import Arguments, parse
from tools.rehearsal.rates import text_of
from tools.rehearsal.records import document
from tools.rehearsal.run import environment, run

_ROOT = Path(__file__).resolve().parents[2]
_BUILD = _ROOT / "build/release"
RESULTS = _ROOT / "results"
PROGRAM = _BUILD / "benchmarks/trainbench"
MESH_PROGRAM = _BUILD / "tools/trainbench_plan"
LIBRARY = _BUILD / "tools/null_gpu"
GOOD, FAILED, USAGE = 0, 1, 2


def _predict(arguments: Arguments, program: Path, library: Path, results: Path) -> int:
    now = datetime.now(UTC)  # microseconds: two calls do not share a file
    result = results / f"{now:%Y%m%dT%H%M%S.%fZ}-{arguments.gpu}-predicted.json"
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f"tools/rehearse: {error}", file=sys.stderr)
        return USAGE
    own = [] if "benchmark_out" in arguments.names else [f"--benchmark_out={result}"]
    with tempfile.TemporaryDirectory(prefix="rehearse-") as name:
        rates = Path(name, "rates")
        rates.write_text(text_of(devices()[arguments.gpu]), encoding="utf-8")
        status = run(
            program,
            library,
            arguments,
            *own,
            TRAINBENCH_NULL_GPU_RATES=str(rates),
            # SpinKernel ends by its own clock: it takes the time that it is given.
            TRAINBENCH_NULL_GPU_DURATION="SpinKernel=arg0",
        )
    if status < 0:
        print(f"tools/rehearse: signal {-status} ended the program", file=sys.stderr)
        return FAILED
    if result.exists():
        print(f"wrote {result}", file=sys.stderr)
    return status


def main(
    tokens: Sequence[str],
    program: Path = PROGRAM,
    library: Path = LIBRARY,
    mesh_program: Path = MESH_PROGRAM,
    results: Path = RESULTS,
) -> int:
    if mesh.asks_for_a_mesh(tokens):

        def ask(flags: Sequence[str], gpu: str) -> "CompletedProcess[str]":
            null_gpu = environment(library, gpu, 1, os.environ)
            return run_program(mesh_program, flags, null_gpu)

        return mesh.main(tokens, ask)
    arguments = parse(tokens)
    if arguments.predicts:
        return _predict(arguments, program, library, results)
    with tempfile.TemporaryDirectory(prefix="rehearse-") as name:
        records, result = Path(name, "records"), Path(name, "result.json")
        own = (f"--rehearsal={records}", f"--benchmark_out={result}")
        status = run(program, library, arguments, *own)
        if status == USAGE:
            return USAGE  # the program has printed the reason
        try:
            found = load(result)
        except NotAResult as error:
            print(
                f"tools/rehearse: the program ended with status {status} and left no "
                f"result: {error}",
                file=sys.stderr,
            )
            return FAILED
        cases = document(arguments.gpu, records, found)
    if arguments.json:
        print(json.dumps(cases, indent=1))
    else:
        print(text.render(cases, arguments.kernels))
    if not found.complete:
        print("tools/rehearse: the run was stopped early", file=sys.stderr)
    return GOOD if status == 0 and found.complete else FAILED


if __name__ == "__main__":
    run_main("tools/rehearse", main)
