# SPDX-License-Identifier: MIT
"""The loop of a run: starts one pair after another until every row is decided."""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reports.compare.ab_decisions import comparison_of, decide, open_rows, plan_of
from reports.compare.ab_record import AbRun, Process, Reason, save
from reports.compare.ab_times import result_of
from reports.compare.comparison import Options
from reports.compare.decision import Decision
from tools.ab_run.directory import is_whole
from tools.ab_run.errors import Failed
from tools.ab_run.launch import Ended, start
from tools.ab_run.progress import StatusLine, duration
from tools.ab_run.schedule import side_of
from tools.ab_run.task import Task, key_of


def pairs_needed(run: AbRun, decision: Decision | None) -> int:
    """Estimates how many more pairs one row needs."""
    most = max(0, run.max_pairs - run.pairs)
    look = plan_of(run).until_next_look(run.pairs)
    return min(most, max(look, (decision.more_pairs or 0) if decision else 0))


def seconds_left(
    run: AbRun, directory: Path, rows: Sequence[str], max_seconds: float
) -> float | None:
    """The time to measure these rows to the end; None: unknown. A row takes as long as
    before in each process, with its share of the start."""
    results = [result_of(directory / process.file) for process in run.processes]
    measured = sum(len(result.names) for result in results)
    if not measured:
        return None
    decisions = decide(run, directory)
    pairs = sum(pairs_needed(run, decisions.get(row)) for row in rows)
    return min(max_seconds - run.seconds, run.seconds / measured * 2 * pairs)


ATTEMPTS = 2  # to run one process


@dataclass(frozen=True)
class Measurement:
    """The constants of one call of tools/ab."""

    task: Task
    directory: Path
    options: Options
    max_seconds: float
    status_line: StatusLine

    def go_on(self, run: AbRun) -> AbRun:
        """Continues the run to its end, and saves its state after every pair.

        Errors: Failed, if no process gives a result; NotComparable, after the first
        pair; Interrupted.
        """
        checked = False
        while run.ended is None:
            if run.pairs and not checked:
                comparison_of(run, self.directory, self.options)
                checked = True
            measured = {process.pair for process in run.processes}
            pair = next(n for n in itertools.count() if n not in measured)
            # Later pairs do not count: a lost one is measured as it was.
            earlier = run.of([one for one in run.processes if one.pair < pair])
            rows = open_rows(earlier, self.directory)
            reason = self._end(run, rows)
            if reason is not None:
                run = replace(run, ended=reason)
            else:
                run = run.of([*run.processes, *self._run_pair(run, pair, rows)])
            save(run, self.directory)
        self.status_line.close()
        return run

    def _end(self, run: AbRun, rows: list[str]) -> Reason | None:
        """The reason to end now, if there is one."""
        if not rows:
            return "decided"
        if run.pairs >= run.max_pairs:
            return "max_pairs"
        return "max_minutes" if run.seconds >= self.max_seconds else None

    def _run_pair(self, run: AbRun, pair: int, rows: list[str]) -> list[Process]:
        """Runs the processes of a pair. Errors: Failed, also if they fail twice;
        OSError."""
        key, positions = key_of(run), (2 * pair, 2 * pair + 1)
        both = [Process(side_of(key, position), position) for position in positions]
        tick = self._progress(run, pair, rows)
        for attempt in range(ATTEMPTS):
            for process in both:
                (self.directory / process.file).unlink(missing_ok=True)
            found = start(self.task, self.directory, both, rows, tick)
            for program in self.task.programs.values():
                program.check()
            failed = [ended for ended in found if not self._is_good(ended)]
            if not failed:
                return [ended.process for ended in found]
            again = "; once more" if attempt + 1 < ATTEMPTS else ""
            for ended in failed:
                self._say_failure(ended, again)
        raise Failed(
            f"{ATTEMPTS} processes in a row came to no result; all that was measured "
            f"is in {self.directory}"
        )

    def _is_good(self, ended: Ended) -> bool:
        file = self.directory / ended.process.file
        return ended.exit.status >= 0 and is_whole(file)

    def _say_failure(self, ended: Ended, again: str) -> None:
        if ended.exit.stopped:  # by us, because the other one had died
            return
        status = ended.exit.status
        how = f"left no whole result (exit status {status})"
        if status < 0:
            how = f"died of signal {-status}"
        self.status_line.print(
            f"{ended.process.file}: the process {how}{again}. Its last words:\n"
            f"{ended.words}"
        )

    def _progress(
        self, run: AbRun, pair: int, rows: list[str]
    ) -> Callable[[float], None]:
        """Shows the progress of the run; the returned function updates it."""
        began = time.monotonic()
        left = seconds_left(run, self.directory, rows, self.max_seconds)
        head = (
            f"pair {pair + 1} of at most {run.max_pairs}: "
            f"{len(rows)} of {len(run.rows)} rows "
            f"{'undecided' if run.stops_early else 'measured'}"
        )

        def text() -> str:
            seconds = time.monotonic() - began
            elapsed = f"{duration(run.seconds + seconds)} elapsed"
            if left is None:
                return f"{head}, {elapsed}"
            return f"{head}, {elapsed}, about {duration(max(0, left - seconds))} left"

        self.status_line.show(text())
        return lambda _seconds_of_process: self.status_line.update(text())
