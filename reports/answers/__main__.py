# SPDX-License-Identifier: MIT
"""tools/answers: prints the answers of a result, or puts them into a document."""

import argparse
import sys
from pathlib import Path

from reports.answers import answers as answered
from reports.answers import markdown
from reports.results.document import with_block
from reports.results.rows import NotAResult, load

GOOD, NOTHING, USAGE = 0, 1, 2


def with_answers(document: str, answers: str) -> str:
    """The document with `answers` between its marks. ValueError without marks."""
    return with_block(document, "answers", answers)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/answers", description=__doc__)
    parser.add_argument("result", type=Path, help="JSON file of a run")
    parser.add_argument("--into", type=Path, help="document with marks for the answers")
    options = parser.parse_args(arguments)
    try:
        result = load(options.result)
        answers = markdown(result)
        if options.into is None:
            print(answers, end="\n" if answers else "")
        else:
            text = options.into.read_text(encoding="utf-8")
            options.into.write_text(with_answers(text, answers), encoding="utf-8")
    except NotAResult as error:
        print(f"tools/answers: {error}", file=sys.stderr)
        return USAGE
    except (OSError, ValueError) as error:
        print(f"tools/answers: {options.into}: {error}", file=sys.stderr)
        return USAGE
    if not answered(result):
        print(
            f"tools/answers: {options.result} answers no question: it lacks the rows",
            file=sys.stderr,
        )
        return NOTHING
    return GOOD


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
