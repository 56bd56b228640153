# SPDX-License-Identifier: MIT
"""The result files of one page: all of one machine, in the order of their runs."""

from collections.abc import Sequence
from pathlib import Path

from reports.results.rows import NotAResult, Result, load

# What times may only be shown together for.
MACHINE = ("device", "cpu_model", "threads")


def _date(path: Path, result: Result) -> float:
    if result.started is None:
        date = result.context.get("date", "")
        raise NotAResult(f"{path}: its date is {date!r}, no time of a run")
    return result.started


def _refuse_other_machines(results: dict[Path, Result]) -> None:
    (first, one), *others = results.items()
    for path, other in others:
        differ = [
            f"{key} ({one.context.get(key)!r} and {other.context.get(key)!r})"
            for key in MACHINE
            if one.context.get(key) != other.context.get(key)
        ]
        if differ:
            raise NotAResult(
                f"{first} and {path} are of different machines: they differ in "
                f"{', '.join(differ)}; a page is of one"
            )


def load_all(paths: Sequence[Path]) -> dict[Path, Result]:
    """The oldest first. Errors: NotAResult, also for files of several machines."""
    results = {path: load(path) for path in paths}
    _refuse_other_machines(results)
    if len(results) == 1:
        return results  # needs no date
    dates = {path: _date(path, result) for path, result in results.items()}
    return {path: results[path] for path in sorted(results, key=dates.__getitem__)}
