# SPDX-License-Identifier: MIT
"""tools/answers: prints the answers of a result as Markdown."""

import argparse
import sys
from pathlib import Path

from reports.answers.answer import markdown
from reports.answers.excerpt import update
from reports.answers.expectations import plain, summary
from reports.answers.headline import sentences
from reports.answers.judging import judgements
from reports.answers.printed import table
from reports.command import run_main
from reports.results.rows import NotAResult, Result, load

GOOD, NOTHING, USAGE = 0, 1, 2


def _update(document: Path, result: Result, path: Path) -> int:
    try:
        update(document, result, machine=path.parent.name)
    except (OSError, ValueError) as error:
        print(f"tools/answers: {document}: {error}", file=sys.stderr)
        return USAGE
    return GOOD


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/answers", description=__doc__)
    parser.add_argument("result", type=Path, help="JSON file of a run")
    brief = parser.add_mutually_exclusive_group()
    brief.add_argument(
        "--expectations",
        action="store_true",
        help="print the expectations that did not hold, a line for each, and no answer",
    )
    brief.add_argument(
        "--summary",
        action="store_true",
        help="print the first sentences of the page, and a line on expectations",
    )
    brief.add_argument(
        "--table", action="store_true", help="print all rows in one table"
    )
    brief.add_argument(
        "--readme",
        type=Path,
        metavar="DOCUMENT",
        help="update the first screen of README.md, if it shows the result's folder",
    )
    options = parser.parse_args(arguments)
    try:
        result = load(options.result)
    except NotAResult as error:
        print(f"tools/answers: {error}", file=sys.stderr)
        return USAGE
    if options.readme:
        return _update(options.readme, result, options.result)
    if options.table:
        print(table(result))
        return GOOD
    judged = judgements(result)
    if options.summary:
        listed = f"tools/answers --expectations {options.result} lists them."
        lines = sentences(result)
        lines += [f"{summary(judged)} {listed}"] if judged else []
        print("\n".join(lines), end="\n" if lines else "")
        return GOOD
    if options.expectations:
        print(plain(judged), end="\n" if judged else "")
        return GOOD
    answers = markdown(result)
    print(answers, end="\n" if answers else "")
    if not result.rows:
        print(f"tools/answers: {options.result} has no rows", file=sys.stderr)
        return NOTHING
    return GOOD


if __name__ == "__main__":
    run_main("tools/answers", main)
