# SPDX-License-Identifier: MIT
"""Decides on the rows of a tools/ab run from its pairs."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from reports.compare.ab_record import SIDES, AbRun, SideName
from reports.compare.ab_times import pair_of, result_of, times_of
from reports.compare.comparison import Comparison, Options, compare
from reports.compare.decision import Decision, Verdict
from reports.compare.intervals import Pair, pairs_for
from reports.compare.noise import threshold_of
from reports.compare.sequential import Plan, decide_in_sequence
from reports.results.rows import Result

# A row is given up after this number of pairs without a measurement on both sides.
FRUITLESS_PAIRS = 2


def results_of(run: AbRun, directory: Path, side: SideName) -> list[Result]:
    """Returns one result per pair, in run order. Errors: NotAResult."""
    return [
        result_of(directory / one.file) for one in run.processes if one.side == side
    ]


def known_pairs(run: AbRun, directory: Path) -> dict[str, list[Pair]]:
    """Returns by row the pairs that measured it on both sides, in order.

    Errors: NotAResult, for a file that was damaged later.
    """
    found: dict[str, list[Pair]] = {row: [] for row in run.rows}
    for halves in zip(run.processes[::2], run.processes[1::2], strict=True):
        times = {one.side: times_of(directory / one.file) for one in halves}
        base, new = (times[side] for side in SIDES)
        for row in found.keys() & base.keys() & new.keys():
            found[row].append(pair_of(base[row], new[row]))
    return found


def plan_of(run: AbRun) -> Plan:
    rows = max(1, len(run.rows))
    return Plan(rows, run.max_pairs, 1 - run.confidence, run.stops_early)


def fewest_pairs(run: AbRun) -> int:
    """Returns the pairs that a lone last look needs; with fewer, no error is spent."""
    return pairs_for(plan_of(run).rest(0))


def _decisions(run: AbRun, directory: Path, ended: bool) -> dict[str, Decision]:
    plan = plan_of(run)
    return {
        row: decide_in_sequence(
            pairs, plan, threshold_of(row, run.threshold, run.noise), ended
        )
        for row, pairs in known_pairs(run, directory).items()
        if pairs
    }


def decide(run: AbRun, directory: Path) -> dict[str, Decision]:
    """Decides on each row with at least one pair. Errors: NotAResult."""
    # Without early looks no error is spent before the end.
    return _decisions(run, directory, run.ended is not None or not run.stops_early)


def open_rows(run: AbRun, directory: Path) -> list[str]:
    """Returns the rows that a further pair has to measure. Errors: NotAResult."""
    decisions = _decisions(run, directory, ended=False)

    def is_open(row: str) -> bool:
        if row not in decisions:
            return run.pairs < FRUITLESS_PAIRS
        # Later pairs cannot change a verdict.
        return decisions[row].verdict is Verdict.INCONCLUSIVE

    return list(filter(is_open, run.rows))


def comparison_of(run: AbRun, directory: Path, options: Options) -> Comparison:
    """Compares the sides with the threshold, confidence and noise floor for which the
    run planned its looks. Errors: NotComparable, NotAResult."""
    base, new = (results_of(run, directory, side) for side in SIDES)
    planned = replace(
        options, threshold=run.threshold, confidence=run.confidence, noise=run.noise
    )
    found = compare(base, new, planned, partial(decide, run, directory))
    # Processes shuffle their cases: restore the order of the record.
    places = {row: place for place, row in enumerate(run.rows)}
    rows = sorted(found.rows, key=lambda row: places.get(row.name, len(places)))
    return replace(found, rows=rows, ended=run.ended is not None)
