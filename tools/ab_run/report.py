# SPDX-License-Identifier: MIT
"""What a run has found: a table for a person, a file with every sample."""

from pathlib import Path
from typing import Any

from reports.compare import as_json, text
from reports.compare.ab_comparison import comparison_of
from reports.compare.ab_record import AbRun, write_json
from reports.compare.comparison import Comparison, Options
from tools.ab_run.samples import load
from tools.ab_run.schedule import samples_file_of

FILE = "result.json"
KIND = "trainbench ab result"
VERSION = 1


def samples(run: AbRun, directory: Path) -> list[dict[str, Any]]:
    """Every sample of every row of every process. Errors: NotAResult."""
    return [
        {
            "row": one.row,
            "side": process.side,
            "pair": process.pair,
            "position": process.position,
            "repetition": one.repetition,
            "median_us": one.median_us,
            "samples_us": one.times_us,
        }
        for process in run.processes
        for one in load(directory / samples_file_of(process.file))
    ]


def finish(
    run: AbRun, directory: Path, options: Options, copy: Path | None
) -> Comparison:
    """Prints the table and writes the files. Errors: NotComparable, NotAResult,
    OSError."""
    comparison = comparison_of(run, directory, options)
    print(text.render(comparison), flush=True)
    document = {
        "kind": KIND,
        "version": VERSION,
        "comparison": as_json.document(comparison),
        "samples": samples(run, directory),
    }
    for path in (directory / FILE, copy):
        if path is not None:
            write_json(path, document)
    return comparison
