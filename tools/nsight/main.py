# SPDX-License-Identifier: MIT
"""The command tools/nsys."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from reports.command import status_of
from reports.compare.filters import matching
from reports.pages.main import main as report
from tools.nsight.cases import (
    EXPERIMENT,
    REPORTS,
    cases,
    divided,
    folder,
    only,
    profile,
)

PROGRAM = Path(__file__).resolve().parents[2] / "build/release/benchmarks/trainbench"
GOOD, FAILED, USAGE = 0, 1, 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tools/nsys",
        description="Runs the chosen steps of model_size under Nsight Systems and "
        f"keeps, for each, its summaries {', '.join(REPORTS)} as CSV. Then it runs our "
        "breakdown of the same steps without Nsight, and writes its page and tables.",
        epilog="All other flags are those of tools/bench: --suite, --models, --mode, "
        "--seq, --batch, ...",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "--into",
        metavar="DIR",
        type=Path,
        required=True,
        help="where to write a folder for each step, and ours.json with its page",
    )
    add("--device", choices=("cuda",), help="(cuda)")
    steps = f"^{EXPERIMENT}/"
    add("--benchmark_filter", metavar="REGEX", default=steps, help="the steps (all)")
    return parser


def _say(text: str) -> None:
    print(f"tools/nsys: {text}", file=sys.stderr)


def _ours(
    directory: Path, program: Path, flags: Sequence[str], names: list[str]
) -> int:
    """Writes our own breakdown of the same steps, as a page with its tables."""
    result = directory / "ours.json"
    directory.mkdir(parents=True, exist_ok=True)
    command = [str(program), *only(divided(names), flags), f"--benchmark_out={result}"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False
    )
    if done.returncode == USAGE:
        _say(
            "the suite has no breakdown of these steps; --suite=paper has those of all"
        )
        return FAILED
    # A run with an ERROR row has a result, too.
    wrong = status_of("tools/report", report, [str(result), "--csv"])
    return wrong or done.returncode


def main(tokens: Sequence[str], program: Path = PROGRAM) -> int:
    given, flags = _parser().parse_known_args(tokens)
    names = cases(program, given.benchmark_filter, flags)
    status = GOOD
    for name in names:
        directory = given.into / folder(name)
        out = f"--benchmark_out={directory / 'row.json'}"
        try:
            written = profile(directory, program, [*only(matching([name]), flags), out])
        except (subprocess.CalledProcessError, OSError) as error:
            _say(f"{name}: {error}")
            status = FAILED
            continue
        for path in written:
            print(path)
    return _ours(given.into, program, flags, names) or status
