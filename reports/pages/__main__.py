# SPDX-License-Identifier: MIT
"""tools/report: writes a result as a page in HTML and in Markdown."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from reports.command import run_main
from reports.pages.page import Page, page
from reports.pages.render import as_html, as_markdown, images, tables
from reports.results.files import write_files
from reports.results.parts import runs
from reports.results.rows import NotAResult, Result, load

# Times are comparable only if these agree.
MACHINE = ("device", "cpu_model", "threads")


def _date(path: Path, result: Result) -> float:
    if result.started is None:
        date = result.context.get("date", "")
        raise NotAResult(f"{path}: its date is {date!r}, no time of a run")
    return result.started


def _refuse_other_machines(results: dict[Path, Result]) -> None:
    (first, result), *others = results.items()
    for path, other in others:
        differ = [
            f"{key} ({result.context.get(key)!r} and {other.context.get(key)!r})"
            for key in MACHINE
            if result.context.get(key) != other.context.get(key)
        ]
        if differ:
            raise NotAResult(
                f"{first} and {path} are of different machines: they differ in "
                f"{', '.join(differ)}; a page is of one"
            )


def load_all(paths: Sequence[Path]) -> dict[Path, Result]:
    """Loads the runs, oldest first, each keyed by its first file.

    Errors: NotAResult, also for results of different machines.
    """
    results = runs({path: load(path) for path in paths}, calls=True)
    _refuse_other_machines(results)
    if len(results) == 1:
        return results  # needs no date
    dates = {path: _date(path, result) for path, result in results.items()}
    return {path: results[path] for path in sorted(results, key=dates.__getitem__)}


GOOD, USAGE = 0, 2


def _write(made: Page, directory: Path, stem: str, as_csv: bool) -> list[Path]:
    """Writes the pages. Errors: OSError; existing pages are then unchanged."""
    figures, csv = directory / f"{stem}.figures", directory / f"{stem}.tables"
    html, markdown = directory / f"{stem}.html", directory / f"{stem}.md"
    filled = [(figures, "*.svg", images(made))]
    if as_csv:
        filled.append((csv, "*.csv", tables(made)))
    contents = {
        html: as_html(made, markdown.name),
        markdown: as_markdown(made, figures.name, html.name),
    }
    for folder, _, files in filled:
        folder.mkdir(parents=True, exist_ok=True)
        contents |= {folder / name: text for name, text in files.items()}
    write_files(contents)
    for folder, kind, _ in filled:
        for old in folder.glob(kind):
            if old not in contents:
                old.unlink()  # left over from a run with more files
    return [html, markdown, *([csv] if as_csv else [])]


def _trace(given: Path | None, newest: Path) -> Path | None:
    """Finds the memory traces. Errors: OSError, if the given directory is missing."""
    if given is not None:
        if not given.is_dir():
            raise NotADirectoryError(f"{given}: it is no directory of memory traces")
        return given
    beside = newest.with_suffix(".memory_trace")
    return beside if beside.is_dir() else None


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/report", description=__doc__)
    parser.add_argument(
        "results",
        metavar="RESULT.json",
        nargs="+",
        type=Path,
        help="result of a run, or its parts; of several runs of one machine the newest "
        "is shown in full",
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
        help="folder from --memory_trace of the newest run (default: "
        "<its name>.memory_trace in its folder)",
    )
    parser.add_argument(
        "--csv",
        action="store_true",
        help="also write each table of the page as CSV, to <name of the first>.tables/",
    )
    options = parser.parse_args(arguments)
    first = options.results[0]
    try:
        results = load_all(options.results)
        trace = _trace(options.memory_trace, newest=list(results)[-1])
        made = page(list(results.values()), trace)
        directory = options.directory or first.parent
        written = _write(made, directory, first.stem, options.csv)
    except (NotAResult, OSError) as error:
        print(f"tools/report: {error}", file=sys.stderr)
        return USAGE
    for path in written:
        print(path)
    return GOOD


if __name__ == "__main__":
    run_main("tools/report", main)
