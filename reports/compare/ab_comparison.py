# SPDX-License-Identifier: MIT
"""The comparison that a directory of tools/ab holds."""

from dataclasses import replace
from pathlib import Path

from reports.compare.ab_record import NOISE_FILE, SIDES, AbRun, load
from reports.compare.ab_run import decide, results_of
from reports.compare.comparison import Comparison, Options, compare
from reports.compare.noise import load_noise


def comparison_of(run: AbRun, directory: Path, options: Options) -> Comparison:
    """Errors: NotComparable, NotAResult."""
    base, new = (results_of(run, directory, side) for side in SIDES)
    found = compare(base, new, options, decide(run, directory, options.noise))
    # Each process had an order of its own.
    places = {row: place for place, row in enumerate(run.rows)}
    rows = sorted(found.rows, key=lambda row: places.get(row.name, len(places)))
    return replace(found, rows=rows)


def compare_directory(directory: Path, options: Options) -> Comparison:
    """By the threshold, confidence and noise floor of the run: its looks were planned
    with them. Errors: NotAnAbRun, NotANoiseFloor, and as above.
    """
    run = load(directory)
    noise = load_noise(directory / NOISE_FILE) if run.noise_sha256 else None
    asked = replace(
        options, threshold=run.threshold, confidence=run.confidence, noise=noise
    )
    return comparison_of(run, directory, asked)
