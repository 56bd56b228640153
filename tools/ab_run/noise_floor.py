# SPDX-License-Identifier: MIT
"""Computes the noise floor of a machine from an A/A run."""

from pathlib import Path

from reports.compare.ab_decisions import known_pairs, plan_of, results_of
from reports.compare.ab_record import AbRun
from reports.compare.noise import NoiseFile, RowSamples, noise_of_rows
from reports.results.rows import Result


def _all_results(run: AbRun, directory: Path) -> list[Result]:
    return [
        *results_of(run, directory, "base"),
        *results_of(run, directory, "new"),
    ]


def noise_of(run: AbRun, directory: Path) -> NoiseFile:
    """The noise of every row with enough pairs."""
    results = _all_results(run, directory)
    samples = {
        name: RowSamples(
            pairs,
            [
                row.time_us
                for result in results
                for row in result.rows
                if row.name == name
            ],
        )
        for name, pairs in known_pairs(run, directory).items()
    }
    rows = noise_of_rows(samples, plan_of(run).rest(0))
    return NoiseFile(results[0].context, rows, run.base.identity)


def default_file(noise: NoiseFile, root: Path) -> Path:
    host = noise.context.get("host_name", "unknown").replace("/", "_")
    device = noise.context.get("device_kind", "unknown")
    return root / "results" / f"noise-{host}-{device}.json"
