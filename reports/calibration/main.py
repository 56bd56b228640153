# SPDX-License-Identifier: MIT
"""tools/calibrate: how often verdicts are wrong, and which slowdowns they find."""

import argparse
import sys
import time
from pathlib import Path

from reports.calibration import whole_runs
from reports.calibration.collect import collected
from reports.calibration.pages import markdown
from reports.calibration.samples import STORED, Samples, load, save
from reports.calibration.stored import REPETITIONS
from reports.results import result_file
from reports.results.files import with_block, write_files
from reports.results.refused import Refused

# Half of the processes, at least two, give the spread; the other half is tested.
FEWEST_PROCESSES = 4


def _check(samples: Samples) -> None:
    """Checks the samples. Errors: ValueError, if there are too few for the tables."""
    processes, _, repetitions = samples.times.shape
    if processes < FEWEST_PROCESSES or processes % 2 != 0:
        allowed = f"an even number, {FEWEST_PROCESSES} or more"
        raise ValueError(f"it has {processes} processes; allowed: {allowed}")
    if repetitions < max(REPETITIONS):
        allowed = f"{max(REPETITIONS)} or more"
        raise ValueError(f"it has {repetitions} repetitions; allowed: {allowed}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/calibrate", description=__doc__)
    parser.add_argument("--samples", type=Path, help="stored times, as of --collect")
    parser.add_argument("--into", type=Path, help="document with marks for the tables")
    parser.add_argument(
        "--runs",
        type=Path,
        nargs="+",
        help="instead: whether these results of one program on one machine agree",
    )
    parser.add_argument(
        "--collect",
        type=Path,
        nargs="+",
        help="instead: write --samples from these results of one program on one "
        "machine, each with --benchmark_repetitions",
    )
    options = parser.parse_args(arguments)
    if options.collect and options.samples is None:
        parser.error("--samples is missing; allowed: the file that --collect writes")
    began = time.monotonic()

    def progress(step: str) -> None:
        print(f"[{time.monotonic() - began:4.0f} s] {step}", file=sys.stderr)

    about: object = "--runs"  # of an error
    try:
        if options.collect:
            about = "--collect"
            save(collected(options.collect), options.samples)
            return 0
        if options.runs:
            print(
                whole_runs.markdown([result_file.load(path) for path in options.runs])
            )
            return 0
        about = options.samples or STORED
        samples = load(options.samples or STORED)
        _check(samples)
        about = options.into
        if options.into is None:
            print(markdown(samples, progress))
            return 0
        document = options.into.read_text(encoding="utf-8")
        with_block(document, "calibration", "")  # fails early, before minutes of work
        text = with_block(document, "calibration", markdown(samples, progress))
        write_files({options.into: text})
    except (OSError, ValueError) as error:
        raise Refused(f"{about}: {error}") from error
    return 0
