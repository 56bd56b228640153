# SPDX-License-Identifier: MIT
"""Loads the result files of one page: one machine, ordered by date."""

from collections.abc import Sequence
from pathlib import Path

from reports.results.parts import runs
from reports.results.rows import NotAResult, Result, load

# Times are comparable only if these agree.
MACHINE = ("device", "cpu_model", "threads")


def _date(path: Path, result: Result) -> float:
    if result.started is None:
        date = result.context.get("date", "")
        raise NotAResult(f"{path}: its date is {date!r}, no time of a run")
    return result.started


def _refuse_other_machines(results: dict[Path, Result]) -> None:
    (first, result), *others = results.items()
    for path, other in others:
        differ = [
            f"{key} ({result.context.get(key)!r} and {other.context.get(key)!r})"
            for key in MACHINE
            if result.context.get(key) != other.context.get(key)
        ]
        if differ:
            raise NotAResult(
                f"{first} and {path} are of different machines: they differ in "
                f"{', '.join(differ)}; a page is of one"
            )


def load_all(paths: Sequence[Path]) -> dict[Path, Result]:
    """The runs, oldest first, each under its first file.

    Errors: NotAResult, also for several machines.
    """
    results = runs({path: load(path) for path in paths}, calls=True)
    _refuse_other_machines(results)
    if len(results) == 1:
        return results  # needs no date
    dates = {path: _date(path, result) for path, result in results.items()}
    return {path: results[path] for path in sorted(results, key=dates.__getitem__)}
