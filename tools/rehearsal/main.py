# SPDX-License-Identifier: MIT
"""The command tools/rehearse."""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from reports.results.result_file import load
from reports.results.rows import NotAResult
from tools.planner.program import PROGRAM as MESH_PROGRAM
from tools.planner.program import Ask, Program
from tools.planner.timing.rates import BACKWARD, HALF_SEQ, Device, devices
from tools.planner.timing.step import CALL_US
from tools.rehearsal import mesh, text
from tools.rehearsal.records import document
from tools.rehearsal.run import Arguments, environment, parse, run

_ROOT = Path(__file__).resolve().parents[2]
_BUILD = _ROOT / "build/release"
RESULTS = _ROOT / "results"
PROGRAM = _BUILD / "benchmarks/trainbench"
LIBRARY = _BUILD / "tools/null_gpu"
GOOD, FAILED, USAGE = 0, 1, 2


def _say(words: str) -> None:
    print(f"tools/rehearse: {words}", file=sys.stderr)


def rates_of(device: Device) -> dict[str, object]:
    """Returns rates for the null GPU (tools/null_gpu/core/rates.h). Products of all
    precisions reach the same shares of their peaks. Raises ValueError if the device
    lacks a rate."""
    shares = device.shares["bf16"]
    return {
        **{name: device.peak(name) for name in ("fp32", "tf32", "bf16", "memory")},
        "memory_share": device.memory["add"][1],
        "attention": device.peak("attention"),
        "attention_half_seq": HALF_SEQ,
        "attention_backward": BACKWARD,
        "link": device.peak("nvlink"),
        "link_us": CALL_US,
        "host_link": device.peak("pcie"),
        "products": [
            (*least_us, share)
            for least_us, share in zip(shares.least_us, shares.share, strict=True)
        ],
    }


def _predict(given: Arguments, program: Path, library: Path, results: Path) -> int:
    now = datetime.now(UTC)  # microseconds: two calls do not share a file
    result = results / f"{now:%Y%m%dT%H%M%S.%fZ}-{given.gpu}-predicted.json"
    results.mkdir(parents=True, exist_ok=True)
    own = [] if "benchmark_out" in given.names else [f"--benchmark_out={result}"]
    with tempfile.TemporaryDirectory(prefix="rehearse-") as name:
        rates = Path(name, "rates")
        rates.write_text(json.dumps(rates_of(devices()[given.gpu])), encoding="utf-8")
        variables = {
            "TRAINBENCH_NULL_GPU_RATES": str(rates),
            # SpinKernel ends by its own clock: it takes the time that it is given.
            "TRAINBENCH_NULL_GPU_SPINS": "1",
        }
        status = run(program, library, given, *own, **variables)
    if status < 0:
        _say(f"signal {-status} ended the program")
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
    if "--mesh" in (token.partition("=")[0] for token in tokens):

        def program_on(gpu: str) -> Ask:
            return Program(mesh_program, environment(library, gpu, 1, os.environ))

        return mesh.main(tokens, program_on)
    given = parse(tokens)
    if given.predicts:
        return _predict(given, program, library, results)
    if given.lists:
        return run(program, library, given)
    with tempfile.TemporaryDirectory(prefix="rehearse-") as name:
        result = Path(name, "result.json")
        own = ("--rehearsal", f"--benchmark_out={result}")
        status = run(program, library, given, *own)
        if status == USAGE:
            return USAGE  # the program has printed the reason
        try:
            found = load(result)
        except NotAResult as error:
            ended = f"the program ended with status {status} and left no result"
            _say(f"{ended}: {error}")
            return FAILED
    cases = document(given.gpu, found)
    shown = json.dumps(cases, indent=1)
    print(shown if given.json else text.render(cases, given.kernels))
    if not found.complete:
        _say("the run was stopped early")
    return GOOD if status == 0 and found.complete else FAILED
