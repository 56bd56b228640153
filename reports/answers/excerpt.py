# SPDX-License-Identifier: MIT
"""The first screen of README.md: the sentences of a committed run's page, and some of
its rows. The mark in the document names the machine of the run."""

import re
import textwrap
from pathlib import Path

from reports.answers import printed
from reports.answers.headline import sentences
from reports.results.files import with_block, write_files
from reports.results.rows import Result
from reports.results.text import columns

WIDTH = 100
COLUMNS = ("case", "time", "rate", "peak mem")
ROWS = ("model_size/small/fp32/train_step/batch:1/seq:128", "optimizer/fused/small")


def _rows(result: Result) -> list[str]:
    """Formats ROWS and COLUMNS. Raises ValueError if a row is missing."""
    headings, *lines = printed.lines(result)
    by_name = {line[0]: line for line in lines}
    if lacking := [name for name in ROWS if name not in by_name]:
        raise ValueError(f"the run has no numbers of {', '.join(lacking)}")
    places = [headings.index(column) for column in COLUMNS]
    chosen = [headings, *(by_name[name] for name in ROWS)]
    return columns([[line[place] for place in places] for line in chosen], left=(0,))


def machine_of(document: str) -> str:
    """Returns the machine shown in the document. Raises ValueError without a mark."""
    found = re.search(r"<!-- table: tools/reference (\S+) -->", document)
    if found is None:
        raise ValueError("it has no <!-- table: tools/reference MACHINE --> mark")
    return found[1]


def with_excerpt(document: str, result: Result) -> str:
    """Replaces the text at the mark. Raises ValueError."""
    # No setting is broken across lines.
    settings = "  ".join(s.replace(" ", "\0") for s in printed.settings(result))
    context = [s.replace("\0", " ") for s in textwrap.wrap(settings, WIDTH)]
    table = [*context, "", *_rows(result), "...", printed.counts(result)]
    opening = textwrap.fill(" ".join(sentences(result)), WIDTH)
    text = "\n".join([opening, "", "```", *table, "```"])
    return with_block(document, "table", text.strip())


def update(document: Path, result: Result, machine: str) -> None:
    """Updates the document if it shows this machine. Raises OSError and ValueError."""
    text = document.read_text(encoding="utf-8")
    try:
        shown = machine_of(text)
    except ValueError as error:
        raise ValueError(f"{document}: {error}") from error
    if shown == machine:
        write_files({document: with_excerpt(text, result)})
