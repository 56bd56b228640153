# SPDX-License-Identifier: MIT
"""The command tools/ab."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reports.compare.ab_decisions import fewest_pairs
from reports.compare.ab_record import RESULT, AbRun, load, save
from reports.compare.comparison import Options
from reports.results.text import plural
from tools.ab_run import report
from tools.ab_run.arguments import Arguments, parse
from tools.ab_run.child import interruptible
from tools.ab_run.directory import claimed, default_directory, is_cut_short, resume
from tools.ab_run.errors import Failed, Interrupted, Rebuilt, Usage
from tools.ab_run.measure import Measurement
from tools.ab_run.progress import StatusLine
from tools.ab_run.task import prepare

SOURCE = Path(__file__).resolve().parents[2]
IS_INSTALLED = not (SOURCE / "CMakePresets.json").exists()
ROOT = Path.cwd() if IS_INSTALLED else SOURCE  # of results and builds


def _say_state(run: AbRun, directory: Path, status_line: StatusLine) -> None:
    pairs = plural(run.pairs, "pair")
    if run.ended is not None:
        how = f"finished before, after {pairs} ({run.ended})"
        status_line.print(
            f"{how}: nothing is measured again; --out=another directory begins anew"
        )
    elif run.processes:
        status_line.print(f"resuming after {pairs}")
    else:
        status_line.print(f"measuring {plural(len(run.rows), 'row')} into {directory}")


def _measure(measurement: Measurement, run: AbRun, arguments: Arguments) -> int:
    directory, status_line = measurement.directory, measurement.status_line
    options = measurement.options
    try:
        run = measurement.go_on(run)
    except (Interrupted, Failed) as error:
        status_line.close()
        known = load(directory)
        if known.pairs:
            report.finish(known, directory, options, arguments.json)
        kept = f"kept {plural(known.pairs, 'pair')} in {directory}"
        goes_on = not isinstance(error, Rebuilt)
        status_line.print(f"{kept}; the same command continues" if goes_on else kept)
        raise
    found = report.finish(run, directory, options, arguments.json)
    status_line.print(f"wrote {directory / RESULT}")
    if is_cut_short(run):
        status_line.print(
            f"{run.pairs} of the {fewest_pairs(run)} pairs that an interval needs; "
            "the same command continues, for the same time"
        )
    if arguments.same is None:
        return found.exit_code
    floor = report.write_floor(run, directory, arguments.noise_out, ROOT)
    status_line.print(f"wrote {floor}")
    # Different times are the result of --same, errors a failure.
    errors = any(result.errors for result in (*found.base, *found.new))
    return 1 if errors or found.failed or found.bad_changes else 0


def _from_here(arguments: Arguments) -> Arguments:
    """An installed tools/ab has no revisions, and uses the trainbench next to it."""
    if not IS_INSTALLED or arguments.binaries:
        return arguments
    if arguments.project is None:
        raise Usage("an installed tools/ab compares by --project or --binaries")
    return replace(arguments, prefix=arguments.prefix or SOURCE.parents[1])


def run_ab(arguments: Arguments, status_line: StatusLine) -> int:
    allowed = arguments.allow_different_environment
    options = Options(allow_different_environment=allowed)
    task = prepare(arguments, ROOT, status_line)
    directory = (arguments.out or default_directory(task.run, ROOT)).resolve()
    with claimed(directory):
        run = resume(task.run, directory)
        _say_state(run, directory, status_line)
        save(run, directory)
        limit = 60 * arguments.max_minutes
        if run.seconds >= limit and run.pairs < fewest_pairs(run):
            limit += run.seconds  # granted again, since it gave no interval
        measurement = Measurement(task, directory, options, limit, status_line)
        return _measure(measurement, run, arguments)


def main(tokens: Sequence[str]) -> int:
    status_line = StatusLine()
    try:
        with interruptible():
            return run_ab(_from_here(parse(tokens)), status_line)
    except Interrupted as interrupt:
        status_line.print("interrupted")
        return interrupt.status
    except OSError as error:  # e.g. the disk is full
        raise Failed(str(error)) from error
    finally:
        status_line.close()
