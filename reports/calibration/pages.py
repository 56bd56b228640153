# SPDX-License-Identifier: MIT
"""All tables of README.md, each with its caption."""

from collections.abc import Callable

from reports.calibration import history, in_turns, power, simulated, stock, stored
from reports.calibration.rule import Lines
from reports.calibration.samples import Samples
from reports.results import text


def tables(samples: Samples) -> dict[str, Lines]:
    """Returns the tables by caption. Each is computed when its lines are asked for."""
    return {
        "Stored times: how often compare.py calls one binary different, with 9 "
        "repetitions a side and p < 0.05": stored.stock_rows(samples),
        "Stored times: the same for any two processes, by the repetitions of each": (
            stored.stock_repetitions(samples)
        ),
        "Stored times: how often our rule gives a false verdict, with 20 pairs of "
        "neighboring processes whose sides a coin decides, "
        f"{stored.RELABELLINGS} times": stored.ours(samples),
        "Stored times: our verdicts, had the processes been A B B A": (
            stored.as_it_was(samples)
        ),
        "Stored times: REGRESSED by 2 % with one process a side, the spread being "
        "known from the other half of the run": stored.one_a_side(samples),
        f"Simulated: share of {simulated.TABLES} tables of {simulated.ROWS} rows with "
        f"a false verdict, up to {simulated.PAIRS} pairs, the order of each pair by a "
        "coin; the last three columns: any REGRESSED in other orders": (
            simulated.sequential()
        ),
        "Simulated: share of such tables with a wrong verdict when each row is slower "
        "by exactly the threshold of 2 %": simulated.equivalent(),
        f"Simulated: share of {simulated.TABLES} tables of {simulated.ROWS} rows "
        "with a false REGRESSED with one process a side, spread known from "
        f"{simulated.KNOWN_PAIRS} A/A pairs": simulated.once(),
        "Simulated: rows that compare.py calls different; tables of "
        f"{simulated.ROWS} rows in which it does so at least once": (
            stock.by_repetitions()
        ),
        "Power: slowed rows found REGRESSED by more than 2 %, and the median of the "
        f"pairs it took, of {simulated.PAIRS} at most": power.power_table(0.0),
        "Power: the same if 5 % of the processes are 1.3 to 3 times slower": (
            power.power_table(power.OUTLIERS)
        ),
        f"Simulated: standard deviation of a pair's log ratio, with {in_turns.ROUNDS} "
        "turns of each process, or one process after the other": in_turns.spreads(),
        f"Simulated: share of {in_turns.TABLES} tables of {in_turns.ROWS} rows, up to "
        f"{in_turns.PAIRS} pairs in turns, a coin for each round": in_turns.verdicts(),
        f"History: changes of {history.ROWS} rows that do not change, in "
        f"{history.DAYS} days of {history.PROCESSES} processes each: found by the p of "
        "one t, suspected by `tools/history check`, and reported once pairs in turns "
        "have confirmed a slowdown": history.false_reports(samples),
        f"History: share of {history.CHECKS} checks of {history.CHECKED_ROWS} rows "
        "that do not change in which any is suspected, had points of few processes "
        "been compared": history.checks(),
        f"History: +3 % in one of {history.ROWS} rows, {history.AFTER} commits later": (
            history.power()
        ),
        f"History: {history.SEARCHES} searches of `tools/history bisect` among "
        f"{history.COMMITS} commits, on a machine with drift and bursts": (
            history.bisections()
        ),
    }


def titled(caption: str, lines: Lines) -> str:
    return f"**{caption}.**\n\n{text.table(next(lines), [*lines])}"


def markdown(samples: Samples, progress: Callable[[str], None]) -> str:
    parts = []
    for caption, lines in tables(samples).items():
        progress(caption)
        parts.append(titled(caption, lines))
    return "\n\n".join(parts)
