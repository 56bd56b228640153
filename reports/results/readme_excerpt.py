# SPDX-License-Identifier: MIT
"""Refreshes the excerpt of a printed table in a document.

The excerpt is the code block that begins as a printed table does. Which cases it shows,
in which order and with which gaps ("..."), was decided by whoever wrote it and is kept;
each line is replaced by the new table's line of that case.
"""

import argparse
import re
import sys
from pathlib import Path

GOOD, USAGE = 0, 2
BLOCK = re.compile(r"(?<=^```\n)git_revision: .*?(?=^```$)", re.MULTILINE | re.DOTALL)
FOOTER = re.compile(r"\d+ cases?( in \d+ runs?)?: ")
# The lines of a table that are no case's, by names that no case can have.
CONTEXT, HEADING, END = "git_revision:", "case time", "cases:"


def key(line: str) -> str:
    """What the line is of: a case's name, or one of the three above."""
    words = line.split()
    if words[:2] == HEADING.split():
        return HEADING
    return END if FOOTER.match(line) else words[0]


def lines_of(table: str) -> dict[str, str]:
    """Lines by what they are of. ValueError if the table is not whole."""
    lines = [line.rstrip() for line in table.splitlines() if line.strip()]
    found: dict[str, str] = {}
    for line in lines:
        found.setdefault(key(line), line)  # of several repetitions the first
    lacking = [part for part in (CONTEXT, HEADING, END) if part not in found]
    if lacking:
        raise ValueError(f"this is no whole table: it lacks '{lacking[0]}'")
    return found


def refreshed(excerpt: str, table: dict[str, str]) -> str:
    """The excerpt's lines from the table. ValueError names cases that it lacks."""
    kept = [line.strip() for line in excerpt.splitlines()]
    copied = [line for line in kept if line not in ("", "...")]
    missing = [key(line) for line in copied if key(line) not in table]
    if missing:
        raise ValueError(f"the excerpt shows what the table lacks: {missing}")
    fresh = [table[key(line)] if line in copied else line for line in kept]
    return "".join(f"{line}\n" for line in fresh)


def with_excerpt(document: str, table: str) -> str:
    """The document with a fresh excerpt. ValueError if it has none, or several."""
    found = BLOCK.findall(document)
    if len(found) != 1:
        raise ValueError(f"excerpts of a table: {len(found)}; needed: 1")
    lines = lines_of(table)
    return BLOCK.sub(lambda match: refreshed(match[0], lines), document)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="reports.results.readme_excerpt", description=__doc__)
    parser.add_argument("table", type=Path, help="what tools/bench printed")
    parser.add_argument("document", type=Path, help="document with an excerpt of it")
    options = parser.parse_args(arguments)
    try:
        table = options.table.read_text(encoding="utf-8")
        text = options.document.read_text(encoding="utf-8")
        options.document.write_text(with_excerpt(text, table), encoding="utf-8")
    except (OSError, ValueError) as error:
        both = f"{options.document}, {options.table}"
        print(f"reports.results.readme_excerpt: {both}: {error}", file=sys.stderr)
        return USAGE
    return GOOD


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
