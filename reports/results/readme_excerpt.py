# SPDX-License-Identifier: MIT
"""Writes the first screen of README.md: the sentences of a committed run's page, and
some of its rows.

Run by tools/reference. The mark in the document names the machine of the run.
"""

import argparse
import re
import sys
import textwrap
from pathlib import Path

from reports.command import run_main
from reports.results.files import with_block, write_files
from reports.results.text import columns

GOOD, USAGE = 0, 2
WIDTH = 100
COLUMNS = ("case", "time", "rate", "peak mem")
ROWS = ("model_size/small/fp32/train_step/batch:1/seq:128", "optimizer/fused/small")


def cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def context_lines(fields: list[str]) -> list[str]:
    """Wraps the run's settings without breaking one of them across lines."""
    joined = "  ".join(field.replace(" ", "\0") for field in fields)
    return [line.replace("\0", " ") for line in textwrap.wrap(joined, WIDTH)]


def sentences(page: str) -> str:
    """Returns the list that opens the page as a paragraph, wrapped to WIDTH."""
    items = re.findall(r"^- (.*)$", page.partition("\n## ")[0], re.MULTILINE)
    return textwrap.fill(" ".join(items), WIDTH)


def excerpt(printed: str) -> str:
    """Extracts ROWS and COLUMNS of a table. Raises ValueError if one is missing."""
    lines = [cells(line) for line in printed.splitlines() if line.strip()]
    rows = {line[0]: line for line in lines}
    lacking = [name for name in ("case", *ROWS) if name not in rows]
    if lacking:
        raise ValueError(f"the table lacks {', '.join(lacking)}")
    picked = [rows["case"].index(column) for column in COLUMNS]
    skipped = [name for name in ROWS if len(rows[name]) <= max(picked)]
    if skipped:
        raise ValueError(f"the table has no numbers of {', '.join(skipped)}")
    table = [[rows[name][column] for column in picked] for name in ("case", *ROWS)]
    shown = columns(table, left=(0,))
    return "\n".join([*context_lines(lines[0]), "", *shown, "...", *lines[-1]])


def machine_of(document: str) -> str:
    """Returns the machine shown in the document. Raises ValueError without a mark."""
    found = re.search(r"<!-- table: tools/reference (\S+) -->", document)
    if found is None:
        raise ValueError("it has no <!-- table: tools/reference MACHINE --> mark")
    return found[1]


def with_excerpt(document: str, printed: str, page: str) -> str:
    text = f"{sentences(page)}\n\n```\n{excerpt(printed)}\n```"
    return with_block(document, "table", text.strip())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=Path, help="document with marks for a table")
    parser.add_argument("table", type=Path, help="of a run, with its page")
    options = parser.parse_args(arguments)
    try:
        text = options.document.read_text(encoding="utf-8")
        if machine_of(text) != options.table.parent.name:
            return GOOD
        printed = options.table.read_text(encoding="utf-8")
        page = options.table.with_suffix(".md").read_text(encoding="utf-8")
        write_files({options.document: with_excerpt(text, printed, page)})
    except (OSError, ValueError) as error:
        print(f"{options.document}: {error}", file=sys.stderr)
        return USAGE
    return GOOD


if __name__ == "__main__":
    run_main("readme_excerpt", main)
