# SPDX-License-Identifier: MIT
"""Opens the directory of a run: a new one, or one to resume."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reports.compare.ab_decisions import fewest_pairs
from reports.compare.ab_record import FILE, AbRun, load, samples_file_of
from reports.compare.ab_times import result_of, turns_of
from reports.results.rows import NotAResult
from tools.ab_run.errors import Usage
from tools.ab_run.schedule import side_of
from tools.ab_run.task import key_of, request_of


def _short(identity: str) -> str:
    return identity.removeprefix("sha256:")[:12]


def default_directory(run: AbRun, root: Path) -> Path:
    base, new = _short(run.base.identity), _short(run.new.identity)
    sides = f"{base}-{new}" if run.stops_early else f"same-{base}"
    return root / "results" / f"ab-{sides}-{key_of(run)[:8]}"


@contextlib.contextmanager
def claimed(directory: Path) -> Iterator[None]:
    """Locks the directory. Errors: Usage, if it is in use or not writable."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(directory, os.O_RDONLY)
    except OSError as error:
        raise Usage(f"--out: {directory}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Usage(f"--out: another call is at work in {directory}") from error
        yield
    finally:
        os.close(handle)


def is_whole(path: Path) -> bool:
    """Whether a process wrote its whole result, with samples of every row."""
    try:
        result, sampled = result_of(path), turns_of(samples_file_of(path))
    except NotAResult:
        return False
    return result.complete and all(row.name in sampled for row in result.rows)


def _difference(old: AbRun, new: AbRun) -> str | None:
    before, now = request_of(old), request_of(new)
    for name, value in now.items():
        if before[name] != value:
            return f"{name} was {before[name]!r} and is {value!r}"
    if old.rows != new.rows:
        return "the programs do not list the same rows any more"
    return None


def is_cut_short(run: AbRun) -> bool:
    """Whether time ran out before any interval was possible, so that no error was
    spent."""
    return run.ended == "max_minutes" and run.pairs < fewest_pairs(run)


def resume(asked: AbRun, directory: Path) -> AbRun:
    """The run in the directory with its whole pairs, or `asked` if there is none.

    Errors: Usage, if the directory holds another run or other files; NotAResult.
    """
    if not (directory / FILE).exists():
        if any(directory.glob("[!.]*")):  # a killed call leaves others
            raise Usage(f"--out: {directory} is not empty, and holds no {FILE}")
        return asked
    found = load(directory)
    difference = _difference(found, asked)
    if difference is not None:
        raise Usage(f"--out: {directory} holds another run: {difference}")
    processes = [one for one in found.processes if is_whole(directory / one.file)]
    goes_on = len(processes) < len(found.processes) or is_cut_short(found)
    run = replace(asked, ended=None if goes_on else found.ended).of(processes)
    key = key_of(run)
    sides = [side_of(key, process.position) for process in run.processes]
    if run.ended is None and sides != [process.side for process in run.processes]:
        raise Usage(
            f"--out: the processes in {directory} ran in another order than this "
            "version's; --out=another directory begins anew"
        )
    return run
