# SPDX-License-Identifier: MIT
"""tools/answers: prints the answers of a result as Markdown."""

import argparse
import sys
from pathlib import Path

from reports.answers.answer import failed_sentence, markdown, unmeasured
from reports.answers.excerpt import update
from reports.answers.expectations import plain, summary
from reports.answers.headline import sentences
from reports.answers.judging import Verdict, judgements
from reports.answers.printed import table
from reports.results.refused import Refused
from reports.results.result_file import load
from reports.results.rows import Result

GOOD, NOTHING = 0, 1


def _text(result: Result, options: argparse.Namespace) -> str:
    """Makes what the options ask for. Errors: NotAResult."""
    if options.table:
        return table(result)
    if options.expectations:
        return plain(judgements(result), result.expectations)
    if not options.summary:
        return markdown(result)
    judged = judgements(result)
    lines = [unmeasured(result), *sentences(result), failed_sentence(result)]
    lines += [summary(judged)] if judged else []
    if any(judgement.verdict != Verdict.HELD for judgement in judged):
        listed = f"tools/answers --expectations {options.result}"
        lines.append(f"{listed} lists what did not hold.")
    return "\n".join(filter(None, lines))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/answers", description=__doc__)
    parser.add_argument("result", type=Path, help="JSON file of a run")
    brief = parser.add_mutually_exclusive_group()
    brief.add_argument(
        "--expectations",
        action="store_true",
        help="print the expectations that did not hold, a line for each, and counts",
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
    result = load(options.result)
    if options.readme:
        try:
            update(options.readme, result, machine=options.result.parent.name)
        except ValueError as error:
            raise Refused(str(error)) from error
        return GOOD
    text = _text(result, options)
    print(text, end="\n" if text else "")
    is_brief = options.table or options.summary or options.expectations
    if is_brief or result.rows:
        return GOOD
    print(f"tools/answers: {options.result} has no rows", file=sys.stderr)
    return NOTHING
