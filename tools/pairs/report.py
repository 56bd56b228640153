# SPDX-License-Identifier: MIT
"""What a run has found: a table for a person, a file with every sample."""

import json
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports.compare.ab_record import AbRun, write_json
from reports.compare.ab_run import decide, results_of
from reports.compare.decision import Decision, Verdict
from reports.compare.noise import NoiseFile
from tools.pairs.schedule import samples_file_of

FILE = "result.json"
KIND = "trainbench ab result"
VERSION = 1


def percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.2f} %"


def interval_text(decision: Decision) -> str:
    if decision.interval is None:
        return "-"
    low, high = decision.interval.ratios
    return f"{percent(low)} to {percent(high)}"


def table(run: AbRun, decisions: Mapping[str, Decision]) -> str:
    width = max(len("case"), *(len(row) for row in run.rows))
    head = (
        f"{'case':<{width}}  {'new/base':>10}  {'interval':>24}  {'pairs':>5}  verdict"
    )
    lines = [head]
    for row in run.rows:
        decision = decisions.get(row)
        if decision is None:
            lines.append(f"{row:<{width}}  no numbers on both sides")
            continue
        more = (
            f", about {decision.more_pairs} more pairs" if decision.more_pairs else ""
        )
        lines.append(
            f"{row:<{width}}  {percent(decision.ratio):>10}  "
            f"{interval_text(decision):>24}  {decision.pairs:>5}  "
            f"{decision.verdict}{more}"
        )
    return "\n".join(lines)


def samples(run: AbRun, directory: Path) -> list[dict[str, Any]]:
    """Every sample of every row of every process."""
    found = []
    for process in run.processes:
        path = directory / samples_file_of(process.file)
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            found.append(
                {
                    "row": one["name"],
                    "side": process.side,
                    "pair": process.pair,
                    "position": process.position,
                    "repetition": one["repetition"],
                    "median_us": statistics.median(one["samples_us"]),
                    "samples_us": one["samples_us"],
                }
            )
    return found


def status_of(run: AbRun, directory: Path, decisions: Mapping[str, Decision]) -> int:
    """1 if a row is slower, lost, or failed on the new side."""
    base, new = (results_of(run, directory, side) for side in ("base", "new"))
    had = {row.name for result in base for row in result.rows}
    has = {row.name for result in new for row in result.rows}
    erred = any(result.errors for result in new)
    slower = any(one.verdict is Verdict.REGRESSED for one in decisions.values())
    return int(slower or erred or bool(had - has))


def comparison(run: AbRun, decisions: Mapping[str, Decision]) -> dict[str, Any]:
    return {
        row: {
            "verdict": decision.verdict,
            "ratio": decision.ratio,
            "interval": decision.interval.ratios if decision.interval else None,
            "threshold": decision.threshold,
            "pairs": decision.pairs,
            "more_pairs": decision.more_pairs,
        }
        for row, decision in decisions.items()
    }


def finish(
    run: AbRun, directory: Path, noise: NoiseFile | None, copy: Path | None
) -> int:
    """Prints the table, writes the files, and says the exit status."""
    decisions = decide(run, directory, noise)
    print(table(run, decisions), flush=True)
    document = {
        "kind": KIND,
        "version": VERSION,
        "comparison": comparison(run, decisions),
        "samples": samples(run, directory),
    }
    for path in (directory / FILE, copy):
        if path is not None:
            write_json(path, document)
    return status_of(run, directory, decisions)
