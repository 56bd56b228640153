# SPDX-License-Identifier: MIT
"""tools/history: stores results of many commits, and finds the changes among them.

Exit status: 0 good; 1 check: a change is suspected in the newest 50 points, or the
newest point is worse; confirm: a regression is confirmed; bisect: no single commit is
found; 2 wrong usage; add: a result is left out; confirm: a commit cannot be measured.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reports.compare.argument_types import number, share
from reports.history import commands
from reports.history import export as exports
from reports.history.divisive import WINDOW
from reports.history.findings import ALPHA

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools/history", description=__doc__)
    add = parser.add_argument
    add("--store", type=Path, default=RESULTS / "history", help="(results/history)")
    add("--repository", type=Path, default=ROOT, help="with the commits (this one)")
    add("--branch", default="HEAD", help="branch that orders the commits (HEAD)")
    rate = f"error rate of a check of the newest {WINDOW} points ({ALPHA})"
    add("--alpha", type=share, default=ALPHA, help=rate)
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")

    def verb(run: Callable[[argparse.Namespace], int]) -> Callable[..., Any]:
        made = verbs.add_parser(run.__name__, help=run.__doc__, description=run.__doc__)
        made.set_defaults(run=run)
        return made.add_argument

    verb(commands.add)("results", nargs="+", type=Path, metavar="RESULT.json")
    verb(commands.check)
    flags = "of the program, after --, so that it has the row (default: as measured)"
    confirm, bisect = verb(commands.confirm), verb(commands.bisect)
    several = number(1, 1e6, whole=True)
    confirm("--most", type=several, default=3, help="suspicions to measure (3)")
    for name in ("row", "good", "bad"):
        bisect(name)
    bisect("--metric", help="search by an exact counter instead of the time")
    for given in (confirm, bisect):
        given("flags", nargs="*", help=flags)
    given = verb(commands.explain)
    for name in ("before", "after"):
        given(name, help="a result, or a commit with one in the store")
    verb(commands.page)("-o", dest="file", type=Path, help="(STORE.html)")
    given = verb(commands.export)
    given("form", choices=exports.FORMS)
    given("-o", dest="path", type=Path, required=True, help="a file; otava: a folder")
    return parser


def main(arguments: list[str]) -> int:
    given = _parser().parse_args(arguments)
    return int(given.run(given))
