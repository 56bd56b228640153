# SPDX-License-Identifier: MIT
"""Starts processes of a run, with the settings that follow from their positions."""

import contextlib
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reports.compare.ab_record import samples_file_of
from tools.ab_run import schedule
from tools.ab_run.child import Child, ChildExit, run_children
from tools.ab_run.duet import Turns, run_in_turns
from tools.ab_run.flags import sets_sampling
from tools.ab_run.task import Task, key_of

_LAST_WORDS = 5  # lines
# Seconds of calls on each side. Longer pairs are more exact, but twice as many pairs of
# half the length give a narrower interval: the worst pair decides among few pairs.
_SECONDS_IN_TURNS = 1


def _sampling_of(task: Task) -> list[str]:
    if not task.run.in_turns or sets_sampling(task.flags):
        return []
    return [f"--benchmark_min_time={_SECONDS_IN_TURNS}"]


def command_of(
    task: Task, directory: Path, position: int, rows: Sequence[str]
) -> list[str | Path]:
    """The command that measures `rows`, or all rows in the first pair."""
    file = directory / schedule.file_of(position)
    key = key_of(task.run)
    pair = schedule.pair_of(position)
    pattern = task.filter
    # The first pair runs all rows, so that rows of only one side are reported.
    if pair > 0:
        pattern = schedule.filter_of(rows) or pattern
    command: list[str | Path] = [
        task.programs[schedule.side_of(key, position)].path,
        *_sampling_of(task),
        *task.flags,
        f"--benchmark_out={file}",
        f"--samples_out={samples_file_of(str(file))}",
    ]
    if pattern is not None:
        command.append(f"--benchmark_filter={pattern}")
    if task.shuffles:
        command.append(f"--shuffle={schedule.seed_of(key, pair)}")
    return command


@dataclass(frozen=True)
class Ended:
    """A process of a run, and its last error output."""

    position: int
    exit: ChildExit  # with its share of the time
    words: str


def start(
    task: Task,
    directory: Path,
    positions: Sequence[int],
    rows: Sequence[str],
    tick: Callable[[float], None],
) -> list[Ended]:
    """Runs one process, or the two of a pair in turns.

    Errors: OSError, Interrupted, Failed.
    """
    key = key_of(task.run)
    logs = [
        (directory / schedule.file_of(position)).with_suffix(".stderr")
        for position in positions
    ]
    with contextlib.ExitStack() as stack:
        nowhere = stack.enter_context(open(os.devnull, "wb"))
        children = []
        for position, log in zip(positions, logs, strict=True):
            padding = schedule.padding_of(key, position)
            children.append(
                Child(
                    command_of(task, directory, position, rows),
                    nowhere,
                    stack.enter_context(log.open("wb")),
                    os.environ | {schedule.PADDING_VARIABLE: padding},
                )
            )
        if len(children) == 1:
            exits = run_children(children, tick=tick)
        else:
            pair = schedule.pair_of(positions[0])
            coin = random.Random(schedule.seed_of_turns(key, pair))
            turns = Turns(task.run.rows, lambda: coin.getrandbits(1))
            exits = run_in_turns(children, turns, tick)
    found = []
    for position, child_exit, log in zip(positions, exits, logs, strict=True):
        words = log.read_text(errors="replace").splitlines()[-_LAST_WORDS:]
        log.unlink()
        text = "\n".join(f"    {line}" for line in words)
        share = replace(child_exit, seconds=child_exit.seconds / len(positions))
        found.append(Ended(position, share, text))
    return found
