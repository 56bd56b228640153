# SPDX-License-Identifier: MIT
"""Starts processes of a run, with the settings that follow from their positions."""

import contextlib
import os
import random
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reports.compare.ab_record import Process, samples_file_of
from tools.ab_run import schedule
from tools.ab_run.arguments import sets_sampling
from tools.ab_run.child import Child, ChildExit
from tools.ab_run.duet import Turns, run_in_turns
from tools.ab_run.task import Task, key_of

_LAST_WORDS = 5  # lines
# Seconds of calls on each side. Longer pairs are more exact, but twice as many pairs of
# half the length give a narrower interval: the worst pair decides among few pairs.
_SECONDS_IN_TURNS = 1


def command_of(
    task: Task, directory: Path, process: Process, rows: Sequence[str]
) -> list[str | Path]:
    """The command that measures `rows`, or all rows in the first pair."""
    file = directory / process.file
    sampling = [f"--benchmark_min_time={_SECONDS_IN_TURNS}"]
    command: list[str | Path] = [
        task.programs[process.side].path,
        *([] if sets_sampling(task.run.flags) else sampling),
        *task.run.flags,
        f"--benchmark_out={file}",
        f"--samples_out={samples_file_of(file)}",
        f"--shuffle={schedule.seed_of(key_of(task.run), process.pair)}",
    ]
    # The first pair runs all rows, so that rows of only one side are reported.
    pattern = schedule.filter_of(rows) if process.pair > 0 else None
    if pattern is not None:
        command.append(f"--benchmark_filter={pattern}")  # it replaces the user's
    return command


@dataclass(frozen=True)
class Ended:
    """A process of a run, and its last error output."""

    process: Process  # with its share of the time
    exit: ChildExit
    words: str


def start(
    task: Task,
    directory: Path,
    processes: Sequence[Process],
    rows: Sequence[str],
    tick: Callable[[float], None],
) -> list[Ended]:
    """Runs the processes of a pair in turns.

    Errors: OSError, Interrupted, Failed.
    """
    key = key_of(task.run)
    logs = [(directory / one.file).with_suffix(".stderr") for one in processes]
    with contextlib.ExitStack() as stack:
        children = []
        for process, log in zip(processes, logs, strict=True):
            padding = schedule.padding_of(key, process.position)
            children.append(
                Child(
                    command_of(task, directory, process, rows),
                    subprocess.DEVNULL,
                    stack.enter_context(log.open("wb")),
                    os.environ | {schedule.PADDING_VARIABLE: padding},
                )
            )
        coin = random.Random(schedule.seed_of_turns(key, processes[0].pair))
        turns = Turns(task.run.rows, lambda: coin.getrandbits(1))
        exits = run_in_turns(children, turns, tick)
    found = []
    for process, child_exit, log in zip(processes, exits, logs, strict=True):
        words = log.read_text(errors="replace").splitlines()[-_LAST_WORDS:]
        log.unlink()
        text = "\n".join(f"    {line}" for line in words)
        share = child_exit.seconds / len(processes)
        found.append(Ended(replace(process, seconds=share), child_exit, text))
    return found
