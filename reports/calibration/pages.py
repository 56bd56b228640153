# SPDX-License-Identifier: MIT
"""All tables of README.md, each with its caption."""

from collections.abc import Iterator

from reports.calibration import (
    in_turns,
    one_process,
    power,
    simulated,
    stock_simulated,
    stored,
)
from reports.calibration.samples import Samples
from reports.calibration.simulated import Progress


def _stored(samples: Samples, progress: Progress) -> Iterator[tuple[str, str]]:
    yield (
        "Stored times: how often compare.py calls one binary different, with 9 "
        "repetitions a side and p < 0.05",
        stored.stock_rows(samples, progress),
    )
    yield (
        "Stored times: the same for any two processes, by the repetitions of each",
        stored.stock_repetitions(samples, progress),
    )
    yield (
        "Stored times: how often our rule gives a false verdict, with 20 pairs of "
        "neighbouring processes whose sides a coin decides, "
        f"{stored.RELABELLINGS} times",
        stored.ours(samples, progress),
    )
    yield (
        "Stored times: our verdicts, had the processes been A B B A",
        stored.as_it_was(samples),
    )
    yield (
        "Stored times: REGRESSED by 2 % with one process a side, the spread being "
        "known from the other half of the run",
        stored.one_a_side(samples, progress),
    )


def _simulated(progress: Progress) -> Iterator[tuple[str, str]]:
    yield (
        f"Simulated: share of {simulated.TABLES} tables of {simulated.ROWS} rows with "
        f"a false verdict, up to {simulated.PAIRS} pairs, the order of each pair by a "
        "coin; the last three columns: any REGRESSED in other orders",
        simulated.sequential(progress),
    )
    yield (
        "Simulated: share of such tables with a wrong verdict when each row is slower "
        "by exactly the threshold of 2 %",
        simulated.equivalent(progress),
    )
    yield (
        f"Simulated: share of {one_process.TABLES} tables of {simulated.ROWS} rows "
        "with a false REGRESSED with one process a side, spread known from "
        f"{one_process.PAIRS} A/A pairs",
        one_process.false_alarms(progress),
    )
    yield (
        "Simulated: rows that compare.py calls different; tables of "
        f"{simulated.ROWS} rows in which it does so at least once",
        stock_simulated.by_repetitions(progress),
    )


def _power(progress: Progress) -> Iterator[tuple[str, str]]:
    yield (
        "Power: slowed rows found REGRESSED by more than 2 %, and the median of the "
        f"pairs it took, of {simulated.PAIRS} at most",
        power.power_table(progress, 0.0),
    )
    yield (
        "Power: the same if 5 % of the processes are 1.3 to 3 times slower",
        power.power_table(progress, power.OUTLIERS),
    )


def _in_turns(progress: Progress) -> Iterator[tuple[str, str]]:
    yield (
        f"Simulated: standard deviation of a pair's log ratio, with {in_turns.ROUNDS} "
        "turns of each process, or one process after the other",
        in_turns.spreads(progress),
    )
    yield (
        f"Simulated: share of {in_turns.TABLES} tables of {in_turns.ROWS} rows, up to "
        f"{in_turns.PAIRS} pairs in turns, a coin for each round",
        in_turns.verdicts(progress),
    )


def markdown(samples: Samples, progress: Progress) -> str:
    parts = [
        *_stored(samples, progress),
        *_simulated(progress),
        *_power(progress),
        *_in_turns(progress),
    ]
    return "\n\n".join(f"**{caption}.**\n\n{table}" for caption, table in parts)
