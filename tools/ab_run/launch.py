# SPDX-License-Identifier: MIT
"""Starts one process of a run, with the settings that follow from its position."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.ab_run import schedule
from tools.ab_run.child import ChildExit, run_child
from tools.ab_run.task import Task, key_of

_LAST_WORDS = 5  # lines


def command_of(
    task: Task, directory: Path, position: int, rows: Sequence[str]
) -> list[str | Path]:
    """Measures `rows`; the first pair measures all rows."""
    file = directory / schedule.file_of(position)
    key = key_of(task.run)
    pair = schedule.pair_of(position)
    pattern = task.filter
    # The first pair runs all rows, so that a row of one side only is reported.
    if pair > 0:
        pattern = schedule.filter_of(rows) or pattern
    command: list[str | Path] = [
        task.programs[schedule.side_of(key, position)].path,
        *task.flags,
        f"--benchmark_out={file}",
        f"--samples_out={schedule.samples_file_of(str(file))}",
    ]
    if pattern is not None:
        command.append(f"--benchmark_filter={pattern}")
    if task.shuffles:
        command.append(f"--shuffle={schedule.seed_of(key, pair)}")
    return command


def start(
    task: Task,
    directory: Path,
    position: int,
    rows: Sequence[str],
    tick: Callable[[float], None],
) -> tuple[ChildExit, str]:
    """The exit of the process, and its last error output.

    Errors: OSError, Interrupted.
    """
    padding = schedule.padding_of(key_of(task.run), position)
    log = (directory / schedule.file_of(position)).with_suffix(".stderr")
    with log.open("wb") as errors, open(os.devnull, "wb") as nowhere:
        child_exit = run_child(
            command_of(task, directory, position, rows),
            output=nowhere,
            errors=errors,
            environment=os.environ | {schedule.PADDING_VARIABLE: padding},
            tick=tick,
        )
    words = log.read_text(errors="replace").splitlines()[-_LAST_WORDS:]
    log.unlink()
    return child_exit, "\n".join(f"    {line}" for line in words)
