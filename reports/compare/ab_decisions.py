# SPDX-License-Identifier: MIT
"""Decides about the rows of a tools/ab run from its pairs."""

from pathlib import Path

from reports.compare.ab_record import SIDES, AbRun, SideName
from reports.compare.ab_times import log_ratio, result_of, times_of
from reports.compare.decision import Decision, Verdict, decide_pairs
from reports.compare.intervals import pairs_for
from reports.compare.noise import NoiseFile, threshold_of
from reports.compare.sequential import Plan, decide_in_sequence
from reports.results.rows import Result

# A row that no pair has measured on both sides is given up after so many pairs.
FRUITLESS_PAIRS = 2

Ratios = dict[str, dict[int, float]]  # log(new / base) by row and pair


def results_of(run: AbRun, directory: Path, side: SideName) -> list[Result]:
    """One result per whole pair, in the order of the run. Errors: NotAResult."""
    pairs = run.whole_pairs()
    return [
        result_of(directory / process.file)
        for process in run.processes
        if process.side == side and process.pair in pairs
    ]


def ratios_by_pair(run: AbRun, directory: Path) -> Ratios:
    """Errors: NotAResult, for a file that was damaged after the run wrote it."""
    times = {
        (process.pair, process.side): times_of(directory / process.file, run.in_turns)
        for process in run.processes
    }
    ratios: Ratios = {row: {} for row in run.rows}
    for pair in run.whole_pairs():
        base, new = (times[pair, side] for side in SIDES)
        for row in run.rows:
            if row in base and row in new:
                ratios[row][pair] = log_ratio(base[row], new[row])
    return ratios


def log_ratios(run: AbRun, directory: Path) -> dict[str, list[float]]:
    """By row, the pairs that measured it on both sides, in order."""
    ratios = ratios_by_pair(run, directory)
    return {row: list(by_pair.values()) for row, by_pair in ratios.items()}


def plan_of(run: AbRun) -> Plan:
    return Plan(max(1, len(run.rows)), run.max_pairs, 1 - run.confidence)


def fewest_pairs(run: AbRun) -> int:
    """The pairs that the last look needs for an interval; fewer spend no error."""
    return pairs_for(plan_of(run).rest(0))


def is_final(log_ratios: list[float], plan: Plan, threshold: float) -> bool:
    """Whether a planned look reached a verdict. Later pairs cannot change it."""
    decision = decide_in_sequence(log_ratios, plan, threshold, ended=False)
    return decision.verdict is not Verdict.INCONCLUSIVE


def until_next_look(pairs: int, plan: Plan) -> int:
    """The number of pairs until the next look; the last look is at the end."""
    looks = [look.pairs for look in plan.looks() if look.pairs > pairs]
    return max(1, (looks[0] if looks else plan.max_pairs) - pairs)


def _decide_row(run: AbRun, ratios: list[float], threshold: float) -> Decision:
    plan = plan_of(run)
    if not run.stops_early:  # the only look is at the end and spends all the error
        return decide_pairs(ratios, plan.rest(0), threshold)
    return decide_in_sequence(ratios, plan, threshold, run.ended is not None)


def decide(run: AbRun, directory: Path, noise: NoiseFile | None) -> dict[str, Decision]:
    """By row, for rows with at least one ratio. Errors: NotAResult."""
    return {
        row: _decide_row(run, ratios, threshold_of(row, run.threshold, noise))
        for row, ratios in log_ratios(run, directory).items()
        if ratios
    }


def open_rows(
    run: AbRun, ratios: Ratios, noise: NoiseFile | None, before: int
) -> list[str]:
    """The rows that pair number `before` still has to measure.

    They depend on earlier pairs only. So both processes of the pair measure the same
    rows, even if the run was interrupted between them.
    """
    plan = plan_of(run)
    past = [pair for pair in run.whole_pairs() if pair < before]

    def is_open(row: str) -> bool:
        known = [ratios[row][pair] for pair in past if pair in ratios[row]]
        if not known:
            return len(past) < FRUITLESS_PAIRS
        if not run.stops_early:
            return True
        return not is_final(known, plan, threshold_of(row, run.threshold, noise))

    return [row for row in run.rows if is_open(row)]
