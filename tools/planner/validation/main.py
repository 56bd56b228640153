# SPDX-License-Identifier: MIT
"""The command tools/validate."""

import argparse
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.results.files import write_files
from reports.results.refused import Refused
from reports.results.result_file import load
from tools.planner import arguments
from tools.planner.program import RUN, Ask, Failed
from tools.planner.recipes import Job, Plan
from tools.planner.validation import memory, page, points, step_times, steps
from tools.planner.validation.cells import DATA, Lacks
from tools.planner.validation.judged import Comparison, compare

_DESCRIPTION = """\
Compares predictions with the measurements of others in reports/reference/public/:

  tools/validate memory    bytes
  tools/validate time      times of a step
  tools/validate page      writes both as a page there

prints each point as measured and as predicted, with an interval, their ratio, the cause
of a miss (of more than 3 % in bytes, or 25 % in time) and what had to be assumed.
Points that no job can express are counted by reason.

  tools/validate time RESULT.json

predicts the steps of a full run on a CPU from its own peaks. The exit status is 1 if
the mean absolute error of the times exceeds 15 %.
"""
_FILES = {
    what: [DATA / f"{name}.tsv" for name in names]
    for what, names in (
        ("memory", ("points", "megatron")),
        ("time", ("points", "llm_foundry", "neusight")),
    )
}


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser(
        _DESCRIPTION,
        prog="tools/validate",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("what", choices=(*_FILES, "page"), help="predictions to check; page: write all")
    add(
        "files",
        nargs="*",
        type=Path,
        help="tables with columns of points.tsv, which README.md there explains; "
        + "; ".join(
            f"{', '.join(p.name for p in of)} for {what}" for what, of in _FILES.items()
        )
        + " (all)",
    )
    add("--json", action="store_true", help="print JSON, in bytes and microseconds")
    return parser


def _memory(files: Iterable[Path], plan: Plan) -> Comparison:
    read = (point for path in files for point in points.read_points(path))
    return compare(read, lambda point: memory.judge(point, plan))


def _times(files: Iterable[Path], plan: Plan) -> Comparison:
    def read(path: Path) -> steps.Steps:
        if path.suffix == ".json":
            return steps.steps_of(load(path), plan)
        return steps.read_steps(path)

    return compare(
        (step for path in files for step in read(path)),
        lambda step: step_times.judge(step, plan),
    )


def _printed(given: argparse.Namespace, plan: Plan) -> tuple[str, int]:
    """Returns what to print, and the exit status."""
    if given.what == "page":
        made = page.page(_memory(_FILES["memory"], plan), _times(_FILES["time"], plan))
        write_files(made)
        return "\n".join(map(str, made)), 0
    is_time = given.what == "time"
    found = (_times if is_time else _memory)(given.files or _FILES[given.what], plan)
    printed = found.as_json() if given.json else found.as_text()
    return printed, int(is_time and not step_times.passes(found))


def main(tokens: Sequence[str], ask: Ask = RUN) -> int:
    parser = _parser()
    given = parser.parse_intermixed_args(tokens)

    @functools.cache
    def answer(*request: tuple[str, Any]) -> Mapping[str, Any]:
        """Raises Lacks if the program refuses the request."""
        try:
            return ask(dict(request))
        except Failed:
            raise
        except Refused as error:
            why = re.sub("--model is '[^']*'; ", "", str(error))
            raise Lacks(f"a job of the program: {why}") from error

    def plan(job: Job) -> Mapping[str, Any]:
        return answer(*job.request().items())

    if given.what == "page" and (given.files or given.json):
        more = given.files[0] if given.files else "--json"
        parser.error(f"page has {more}; allowed: page alone")
    try:
        printed, status = _printed(given, plan)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    print(printed)
    return status
