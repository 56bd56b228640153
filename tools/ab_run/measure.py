# SPDX-License-Identifier: MIT
"""The loop of a run: one fresh process after another, until there is an answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from reports.compare.ab_comparison import comparison_of
from reports.compare.ab_decisions import open_rows, ratios_by_pair
from reports.compare.ab_record import AbRun, Process, Reason, save
from reports.compare.comparison import Options
from reports.compare.environment import NotComparable
from tools.ab_run import schedule
from tools.ab_run.directory import is_whole
from tools.ab_run.errors import Failed, Usage
from tools.ab_run.estimate import seconds_left
from tools.ab_run.launch import start
from tools.ab_run.progress import Lines, duration
from tools.ab_run.task import Task, key_of

ATTEMPTS = 2  # at one process


@dataclass(frozen=True)
class Measurement:
    """What stays the same during one call of tools/ab."""

    task: Task
    directory: Path
    options: Options
    max_seconds: float
    lines: Lines

    def go_on(self, run: AbRun) -> AbRun:
        """To the end of the run. Every process that ends is saved at once.

        Errors: Failed if processes die one after the other; Interrupted.
        """
        checked = False
        while run.ended is None:
            if run.pairs and not checked:
                self._check_comparable(run)
                checked = True
            position = next_position(run)
            pair = schedule.pair_of(position)
            rows = open_rows(
                run,
                ratios_by_pair(run, self.directory),
                self.options.noise,
                before=pair,
            )
            reason = self._end(run, position, rows)
            if reason is not None:
                run = replace(run, ended=reason)
            else:
                run = run.with_process(self._run_process(run, position, rows))
            save(run, self.directory)
        self.lines.close()
        return run

    def _check_comparable(self, run: AbRun) -> None:
        """What the first pair tells need not be measured for an hour."""
        try:
            comparison_of(run, self.directory, self.options)
        except NotComparable as error:
            raise Usage(str(error)) from error

    def _end(self, run: AbRun, position: int, rows: list[str]) -> Reason | None:
        """Only between two pairs: half a pair says nothing."""
        if position % 2 != 0:
            return None
        if not rows:
            return "decided"
        if run.pairs >= run.max_pairs:
            return "max_pairs"
        return "max_minutes" if run.seconds >= self.max_seconds else None

    def _run_process(self, run: AbRun, position: int, rows: list[str]) -> Process:
        pair = schedule.pair_of(position)
        file = schedule.file_of(position)
        tick = self._progress(run, position, rows)
        for attempt in range(ATTEMPTS):
            (self.directory / file).unlink(missing_ok=True)
            ended, words = start(self.task, self.directory, position, rows, tick)
            if ended.status >= 0 and is_whole(self.directory / file):
                key = key_of(run)
                seed = schedule.seed_of(key, pair)
                side = schedule.side_of(key, position)
                return Process(file, side, pair, position, seed, ended.seconds)
            how = _how(ended.status)
            again = "; once more" if attempt + 1 < ATTEMPTS else ""
            self.lines.say(
                f"{file}: the process {how}{again}. Its last words:\n{words}"
            )
        raise Failed(
            f"{ATTEMPTS} processes in a row came to no result; all that was measured "
            f"is in {self.directory}"
        )

    def _progress(
        self, run: AbRun, position: int, rows: list[str]
    ) -> Callable[[float], None]:
        """Says where the run is, now and whenever it is called."""
        left = seconds_left(
            run, self.directory, rows, self.options.noise, self.max_seconds
        )
        head = (
            f"pair {schedule.pair_of(position) + 1} of at most {run.max_pairs}, "
            f"{schedule.side_of(key_of(run), position)}: {len(rows)} of {len(run.rows)} rows "
            f"{'undecided' if run.stops_early else 'measured'}"
        )

        def text(seconds: float) -> str:
            elapsed = f"{duration(run.seconds + seconds)} elapsed"
            if left is None:
                return f"{head}, {elapsed}"
            return f"{head}, {elapsed}, about {duration(max(0, left - seconds))} left"

        self.lines.status(text(0))
        return lambda seconds: self.lines.update(text(seconds))


def next_position(run: AbRun) -> int:
    """Of the first process that has not come to its end."""
    done = {process.position for process in run.processes}
    return next(n for n in range(len(done) + 1) if n not in done)


def _how(status: int) -> str:
    if status < 0:
        return f"died of signal {-status}"
    return f"left no whole result (exit status {status})"
