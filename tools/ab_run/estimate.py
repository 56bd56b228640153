# SPDX-License-Identifier: MIT
"""Estimates the remaining time of a run."""

from collections.abc import Sequence
from pathlib import Path

from reports.compare.ab_decisions import decide, plan_of, until_next_look
from reports.compare.ab_record import AbRun
from reports.compare.ab_times import result_of
from reports.compare.decision import Decision
from reports.compare.noise import NoiseFile


def seconds_per_row(run: AbRun, directory: Path) -> float | None:
    """The time of a row in one process, with its share of the start; None: unknown."""
    rows = 0
    for process in run.processes:
        result = result_of(directory / process.file)
        rows += len(result.rows) + len(result.skipped) + len(result.errors)
    return run.seconds / rows if rows else None


def pairs_needed(run: AbRun, decision: Decision | None) -> int:
    """How many more pairs one row probably needs."""
    most = max(0, run.max_pairs - run.pairs)
    if not run.stops_early:
        return most
    look = until_next_look(run.pairs, plan_of(run))
    return min(most, max(look, (decision.more_pairs or 0) if decision else 0))


def seconds_left(
    run: AbRun,
    directory: Path,
    rows: Sequence[str],
    noise: NoiseFile | None,
    max_seconds: float,
) -> float | None:
    """The time to measure these rows to the end; None: unknown."""
    each = seconds_per_row(run, directory)
    if each is None:
        return None
    decisions = decide(run, directory, noise)
    pairs = sum(pairs_needed(run, decisions.get(row)) for row in rows)
    begun = len(rows) if len(run.processes) % 2 else 0  # half of a pair is done
    return min(max_seconds - run.seconds, each * (2 * pairs - begun))
