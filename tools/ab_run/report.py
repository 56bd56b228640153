# SPDX-License-Identifier: MIT
"""Reports a run: prints a table, and writes the comparison, and the noise floor."""

from pathlib import Path

from reports.compare import as_json, text
from reports.compare.ab_decisions import (
    comparison_of,
    fewest_pairs,
    known_pairs,
    plan_of,
    results_of,
)
from reports.compare.ab_record import RESULT, RESULT_KIND, SIDES, VERSION, AbRun
from reports.compare.comparison import Comparison, Options
from reports.compare.noise import NoiseFile, noise_of_rows, save_noise
from reports.results.records import save
from tools.ab_run.errors import Failed


def finish(
    run: AbRun, directory: Path, options: Options, copy: Path | None
) -> Comparison:
    """Prints the table and writes the files. Errors: NotComparable, NotAResult,
    OSError."""
    comparison = comparison_of(run, directory, options)
    print(text.render(comparison), flush=True)
    content = {"comparison": as_json.document(comparison)}
    for path in (directory / RESULT, copy):
        if path is not None:
            save(path, RESULT_KIND, VERSION, content)
    return comparison


def write_floor(run: AbRun, directory: Path, path: Path | None, root: Path) -> Path:
    """Writes the noise of every row with enough pairs; returns the path, by default in
    the results of `root`. Errors: Failed, if there is nothing to write."""
    pairs = known_pairs(run, directory)
    results = [one for side in SIDES for one in results_of(run, directory, side)]
    times_us = {
        name: [each.by_name[name].time_us for each in results if name in each.by_name]
        for name in pairs
    }
    rows = noise_of_rows(pairs, times_us, plan_of(run).rest(0))
    context = results[0].context
    if path is None:
        host = context.get("host_name", "unknown").replace("/", "_")
        device = context.get("device_kind", "unknown")
        path = root / "results" / f"noise-{host}-{device}.json"
    if not rows:
        raise Failed(
            f"no row has the {fewest_pairs(run)} pairs that a noise floor takes: "
            f"{path} is not written"
        )
    save_noise(NoiseFile(context, rows, run.base.identity), path)
    return path
