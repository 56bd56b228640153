# SPDX-License-Identifier: MIT
"""The command tools/validate."""

import argparse
import functools
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.command import run_main
from reports.results.rows import load
from tools.planner import arguments
from tools.planner.__main__ import Ask, run_program
from tools.planner.validation import memory, step_times
from tools.planner.validation.points import DATA, read_points
from tools.planner.validation.steps import Lacks, Step, read_steps, steps_of

_DESCRIPTION = """\
Holds predictions against what others have measured:

  tools/validate memory
  tools/validate time

prints predicted and measured bytes, or times, of each point of
reports/reference/public/, their ratio, and the cause of a miss above 3 %, or 25 %;
and of the points that no job can express what they have.
"""
# The row of the program for these flags; Lacks if it refuses them.
Plan = Callable[[tuple[str, ...]], Mapping[str, Any]]
_FILES = {
    "memory": ("points.tsv", "megatron.tsv"),
    "time": ("points.tsv", "llm_foundry.tsv", "neusight.tsv"),
}


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser(
        _DESCRIPTION,
        prog="tools/validate",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("what", choices=_FILES, help="what is predicted")
    add(
        "files",
        nargs="*",
        type=Path,
        help="with the columns of "
        + "; or ".join(
            f"{', '.join(names)} for {what}" for what, names in _FILES.items()
        ),
    )
    add("--json", action="store_true", help="print JSON")
    return parser


def _memory(files: Sequence[Path], row: Plan, as_json: bool) -> str:
    points = [point for path in files for point in read_points(path)]
    render = memory.as_json if as_json else memory.as_text
    judged = memory.judge(points, lambda job: row(tuple(job.flags())))
    return render(points, judged)


def _times(files: Sequence[Path], row: Plan, as_json: bool) -> str:
    def sizes(model: str) -> Mapping[str, Any]:
        return row(("--operators", f"--models={model}", "--batch=1", "--seq=1"))

    def read(path: Path) -> Iterator[Step]:
        if path.suffix == ".json":
            return steps_of(load(path), sizes)
        return read_steps(path)

    steps = (step for path in files for step in read(path))
    render = step_times.as_json if as_json else step_times.as_text
    return render(*step_times.judge(steps, lambda job: row(job.flags())))


def main(tokens: Sequence[str], ask: Ask = run_program) -> int:
    parser = _parser()
    given = parser.parse_args(tokens)

    @functools.cache
    def row(flags: tuple[str, ...]) -> Mapping[str, Any]:
        answer = ask(flags)
        if answer.returncode:
            raise Lacks(answer.stderr.strip())
        found: dict[str, Any] = json.loads(answer.stdout)["rows"][0]
        return found

    files = given.files or [DATA / name for name in _FILES[given.what]]
    try:
        printed = (_times if given.what == "time" else _memory)(files, row, given.json)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    except Lacks as error:
        print(f"tools/validate: {error}", file=sys.stderr)
        return 1
    print(printed)
    return 0


if __name__ == "__main__":
    run_main("tools/validate", main)
