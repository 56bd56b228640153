# SPDX-License-Identifier: MIT
"""Reports a run: prints a table, and writes a file with every sample."""

from pathlib import Path
from typing import Any

from reports.compare import as_json, text
from reports.compare.ab_decisions import comparison_of, known_pairs, plan_of, results_of
from reports.compare.ab_record import SIDES, AbRun, samples_file_of
from reports.compare.ab_times import load
from reports.compare.comparison import Comparison, Options
from reports.compare.noise import NoiseFile, noise_of_rows
from reports.results.records import save

FILE = "result.json"
KIND = "trainbench ab result"
VERSION = 1


def samples(run: AbRun, directory: Path) -> list[dict[str, Any]]:
    """All samples, by process, row and repetition. Errors: NotAResult."""
    return [
        {
            "row": sampled.name,
            "side": process.side,
            "pair": process.pair,
            "position": process.position,
            "repetition": sampled.repetition,
            "median_us": sampled.median_us,
            "samples_us": sampled.samples_us,
            "turn_us": sampled.turn_us,
        }
        for process in run.processes
        for sampled in load(directory / samples_file_of(process.file))
    ]


def finish(
    run: AbRun, directory: Path, options: Options, copy: Path | None
) -> Comparison:
    """Prints the table and writes the files. Errors: NotComparable, NotAResult,
    OSError."""
    comparison = comparison_of(run, directory, options)
    print(text.render(comparison), flush=True)
    content = {
        "comparison": as_json.document(comparison),
        "samples": samples(run, directory),
    }
    for path in (directory / FILE, copy):
        if path is not None:
            save(path, KIND, VERSION, content)
    return comparison


def noise_of(run: AbRun, directory: Path) -> NoiseFile:
    """The noise of every row with enough pairs."""
    pairs = known_pairs(run, directory)
    results = [one for side in SIDES for one in results_of(run, directory, side)]
    times_us = {
        name: [each.by_name[name].time_us for each in results if name in each.by_name]
        for name in pairs
    }
    rows = noise_of_rows(pairs, times_us, plan_of(run).rest(0))
    return NoiseFile(results[0].context, rows, run.base.identity)


def default_file(noise: NoiseFile, root: Path) -> Path:
    host = noise.context.get("host_name", "unknown").replace("/", "_")
    device = noise.context.get("device_kind", "unknown")
    return root / "results" / f"noise-{host}-{device}.json"
