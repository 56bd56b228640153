# SPDX-License-Identifier: MIT
"""Compares the two sides in a directory of tools/ab."""

from dataclasses import replace
from pathlib import Path

from reports.compare.ab_decisions import decide, results_of
from reports.compare.ab_record import NOISE_FILE, SIDES, AbRun, load, sha256_of
from reports.compare.comparison import Comparison, Options, compare
from reports.compare.noise import NoiseFile, NotANoiseFloor, load_noise


def comparison_of(run: AbRun, directory: Path, options: Options) -> Comparison:
    """Errors: NotComparable, NotAResult."""
    base, new = (results_of(run, directory, side) for side in SIDES)
    found = compare(base, new, options, decide(run, directory, options.noise))
    # Processes shuffle their cases: restore the order of the record.
    places = {row: place for place, row in enumerate(run.rows)}
    rows = sorted(found.rows, key=lambda row: places.get(row.name, len(places)))
    return replace(found, rows=rows)


def _noise_of(run: AbRun, path: Path) -> NoiseFile | None:
    """Errors: NotANoiseFloor, also if the file was replaced."""
    if run.noise_sha256 is None:
        return None
    noise = load_noise(path)
    if sha256_of(path) != run.noise_sha256:
        raise NotANoiseFloor(f"{path} is not the noise floor that the run began with")
    return noise


def compare_directory(directory: Path, options: Options) -> Comparison:
    """Compares with the threshold, confidence and noise floor of the run, which planned
    its looks with them. Errors: NotAnAbRun, NotANoiseFloor, NotComparable, NotAResult.
    """
    run = load(directory)
    noise = _noise_of(run, directory / NOISE_FILE)
    asked = replace(
        options, threshold=run.threshold, confidence=run.confidence, noise=noise
    )
    return comparison_of(run, directory, asked)
