# SPDX-License-Identifier: MIT
"""Decides on the rows of a tools/ab run from its pairs."""

from dataclasses import replace
from pathlib import Path

from reports.compare.ab_record import (
    NOISE_FILE,
    SIDES,
    AbRun,
    SideName,
    load,
    sha256_of,
)
from reports.compare.ab_times import pair_of, result_of, times_of
from reports.compare.comparison import Comparison, Options, compare
from reports.compare.decision import Decision, Verdict
from reports.compare.intervals import Pair, pairs_for
from reports.compare.noise import NoiseFile, load_noise, threshold_of
from reports.compare.sequential import Plan, decide_in_sequence
from reports.results.rows import NotAResult, Result

# A row is given up after this number of pairs without a measurement on both sides.
FRUITLESS_PAIRS = 2

Pairs = dict[str, dict[int, Pair]]  # by row and the pair's number


def results_of(run: AbRun, directory: Path, side: SideName) -> list[Result]:
    """Returns one result per complete pair, in run order. Errors: NotAResult."""
    pairs = run.whole_pairs()
    return [
        result_of(directory / process.file)
        for process in run.processes
        if process.side == side and process.pair in pairs
    ]


def numbered_pairs(run: AbRun, directory: Path) -> Pairs:
    """Collects the pairs. Errors: NotAResult, for a file that was damaged later."""
    times = {
        (process.pair, process.side): times_of(directory / process.file, run.in_turns)
        for process in run.processes
    }
    found: Pairs = {row: {} for row in run.rows}
    for pair in run.whole_pairs():
        base, new = (times[pair, side] for side in SIDES)
        for row in run.rows:
            if row in base and row in new:
                found[row][pair] = pair_of(base[row], new[row])
    return found


def known_pairs(run: AbRun, directory: Path) -> dict[str, list[Pair]]:
    """Returns by row the pairs that measured it on both sides, in order."""
    found = numbered_pairs(run, directory)
    return {row: list(by_number.values()) for row, by_number in found.items()}


def plan_of(run: AbRun) -> Plan:
    rows = max(1, len(run.rows))
    return Plan(rows, run.max_pairs, 1 - run.confidence, run.stops_early)


def fewest_pairs(run: AbRun) -> int:
    """Returns the pairs that a lone last look needs; with fewer, no error is spent."""
    return pairs_for(plan_of(run).rest(0))


def is_final(pairs: list[Pair], plan: Plan, threshold: float) -> bool:
    """Returns whether a planned look has a verdict, which later pairs cannot change."""
    decision = decide_in_sequence(pairs, plan, threshold, ended=False)
    return decision.verdict is not Verdict.INCONCLUSIVE


def until_next_look(pairs: int, plan: Plan) -> int:
    """Returns the number of pairs until the next look; the last one is at the end."""
    looks = [look.pairs for look in plan.looks() if look.pairs > pairs]
    return max(1, (looks[0] if looks else plan.max_pairs) - pairs)


def decide(run: AbRun, directory: Path, noise: NoiseFile | None) -> dict[str, Decision]:
    """Decides on each row with at least one pair. Errors: NotAResult."""
    plan = plan_of(run)
    # Without early looks no error is spent before the end.
    ended = run.ended is not None or not plan.stops_early
    return {
        row: decide_in_sequence(
            pairs, plan, threshold_of(row, run.threshold, noise), ended
        )
        for row, pairs in known_pairs(run, directory).items()
        if pairs
    }


def open_rows(
    run: AbRun, pairs: Pairs, noise: NoiseFile | None, before: int
) -> list[str]:
    """Returns the rows that pair number `before` still has to measure.

    They depend only on earlier pairs, so that both processes of the pair measure the
    same rows even if the run was interrupted between them.
    """
    plan = plan_of(run)
    past = [number for number in run.whole_pairs() if number < before]

    def is_open(row: str) -> bool:
        known = [pairs[row][number] for number in past if number in pairs[row]]
        if not known:
            return len(past) < FRUITLESS_PAIRS
        return not is_final(known, plan, threshold_of(row, run.threshold, noise))

    return [row for row in run.rows if is_open(row)]


def comparison_of(run: AbRun, directory: Path, options: Options) -> Comparison:
    """Compares the sides of the run. Errors: NotComparable, NotAResult."""
    base, new = (results_of(run, directory, side) for side in SIDES)
    found = compare(base, new, options, decide(run, directory, options.noise))
    # Processes shuffle their cases: restore the order of the record.
    places = {row: place for place, row in enumerate(run.rows)}
    rows = sorted(found.rows, key=lambda row: places.get(row.name, len(places)))
    return replace(found, rows=rows)


def _noise_of(run: AbRun, path: Path) -> NoiseFile | None:
    """Loads the noise floor. Errors: NotAResult, also if the file was replaced."""
    if run.noise_sha256 is None:
        return None
    noise = load_noise(path)
    if sha256_of(path) != run.noise_sha256:
        raise NotAResult(f"{path} is not the noise floor that the run began with")
    return noise


def compare_directory(directory: Path, options: Options) -> Comparison:
    """Compares with the threshold, confidence and noise floor for which the run planned
    its looks. Errors: NotComparable, NotAResult.
    """
    run = load(directory)
    noise = _noise_of(run, directory / NOISE_FILE)
    asked = replace(
        options, threshold=run.threshold, confidence=run.confidence, noise=noise
    )
    return comparison_of(run, directory, asked)
