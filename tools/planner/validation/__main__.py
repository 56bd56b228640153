# SPDX-License-Identifier: MIT
"""The command tools/validate."""

import argparse
import functools
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.command import run_main
from tools.planner import arguments
from tools.planner.__main__ import Ask, run_program
from tools.planner.validation import memory
from tools.planner.validation.points import DATA, read_points

_DESCRIPTION = """\
Holds predictions against what others have measured:

  tools/validate memory

prints predicted and measured bytes of each point of reports/reference/public/, their
ratio, and the cause of a miss above 3 %; and of the points that no job can express what
they have.
"""


class _Failed(Exception):
    """The program did not answer."""


def _parser() -> argparse.ArgumentParser:
    parser = arguments.parser(
        _DESCRIPTION,
        prog="tools/validate",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("what", choices=("memory",), help="what is predicted")
    add(
        "files",
        nargs="*",
        type=Path,
        default=[DATA / "points.tsv", DATA / "megatron.tsv"],
        help="with the columns of one of these (both)",
    )
    add("--json", action="store_true", help="print JSON")
    return parser


def main(tokens: Sequence[str], ask: Ask = run_program) -> int:
    parser = _parser()
    given = parser.parse_args(tokens)

    @functools.cache
    def row(flags: tuple[str, ...]) -> Mapping[str, Any]:
        answer = ask(flags)
        if answer.returncode:
            raise _Failed(answer.stderr.strip())
        found: dict[str, Any] = json.loads(answer.stdout)["rows"][0]
        return found

    try:
        points = [point for path in given.files for point in read_points(path)]
        judged = memory.judge(points, lambda job: row(tuple(job.flags())))
    except (OSError, ValueError) as error:
        parser.error(str(error))
    except _Failed as error:
        print(f"tools/validate: {error}", file=sys.stderr)
        return 1
    render = memory.as_json if given.json else memory.as_text
    print(render(points, judged))
    return 0


if __name__ == "__main__":
    run_main("tools/validate", main)
