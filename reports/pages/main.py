# SPDX-License-Identifier: MIT
"""tools/report: writes a result as a page in HTML and in Markdown."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from reports.pages.page import Page, page
from reports.pages.render import as_html, as_markdown, images, tables
from reports.results.files import write_files
from reports.results.parts import runs
from reports.results.result_file import load
from reports.results.rows import NotAResult, Result


def _load(paths: Sequence[Path]) -> Result:
    """Loads a run, or its parts. Errors: NotAResult, also for several runs."""
    found = runs({path: load(path) for path in paths}, calls=True)
    first, *others = found
    if others:
        raise NotAResult(
            f"{first} and {others[0]} are of different runs; a page is of one, and "
            "tools/history has the history of many"
        )
    return found[first]


def _write(made: Page, directory: Path, stem: str, as_csv: bool) -> list[Path]:
    """Writes the pages. Errors: OSError; existing pages are then unchanged."""
    figures, csv = directory / f"{stem}.figures", directory / f"{stem}.tables"
    html, markdown = directory / f"{stem}.html", directory / f"{stem}.md"
    contents = {
        html: as_html(made, markdown.name),
        markdown: as_markdown(made, figures.name, html.name),
        **{figures / name: svg for name, svg in images(made).items()},
    }
    if as_csv:
        contents |= {csv / name: table for name, table in tables(made).items()}
    write_files(contents)
    # Files may be left over from a run with more of them.
    for old in (*figures.glob("*.svg"), *(csv.glob("*.csv") if as_csv else ())):
        if old not in contents:
            old.unlink()
    return [html, markdown, *([csv] if as_csv else [])]


def _trace(given: Path | None, result: Path) -> Path | None:
    """Finds the memory traces. Errors: OSError, if the given directory is missing."""
    if given is not None:
        if not given.is_dir():
            raise NotADirectoryError(f"{given}: it is not a directory of memory traces")
        return given
    beside = result.with_suffix(".memory_trace")
    return beside if beside.is_dir() else None


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/report", description=__doc__)
    parser.add_argument(
        "results",
        metavar="RESULT.json",
        nargs="+",
        type=Path,
        help="result of a run, or its parts",
    )
    parser.add_argument(
        "-o",
        metavar="DIR",
        dest="directory",
        type=Path,
        help="where to write <name of the first>.html and .md (default: its folder)",
    )
    parser.add_argument(
        "--memory_trace",
        metavar="DIR",
        type=Path,
        help="folder from --memory_trace of the run (default: <name of the first>"
        ".memory_trace in its folder)",
    )
    parser.add_argument(
        "--csv",
        action="store_true",
        help="also write each table of the page as CSV, to <name of the first>.tables/",
    )
    options = parser.parse_args(arguments)
    first = options.results[0]
    made = page(_load(options.results), _trace(options.memory_trace, first))
    directory = options.directory or first.parent
    written = _write(made, directory, first.stem, options.csv)
    for path in written:
        print(path)
    return 0
