# SPDX-License-Identifier: MIT
"""Reads the samples of one process: a JSON line per row and repetition."""

import statistics
from dataclasses import dataclass
from pathlib import Path

from reports.compare.fields import Fields
from reports.results import strict_json
from reports.results.checked_entry import NotAResult, is_number


@dataclass(frozen=True)
class Samples:
    row: str
    repetition: int
    times_us: list[float]  # in order; of a long list every n-th
    median_us: float  # of all samples
    turns_us: list[float]  # of each turn the median of the row's time; none: no turns


def _numbers(fields: Fields, key: str) -> list[float]:
    found = fields[key]
    if not (isinstance(found, list) and found and all(map(is_number, found))):
        raise fields.wrong(key, "a list of numbers")
    return found


def _parse(line: str) -> Samples:
    """Errors: ValueError."""
    fields = Fields(strict_json.parse(line), "it")
    times = _numbers(fields, "samples_us")
    middle = statistics.median(times)
    return Samples(
        row=fields.word("name"),
        repetition=fields.whole("repetition", 0),
        times_us=times,
        median_us=fields.number("median_us", 0) if "every" in fields else middle,
        turns_us=_numbers(fields, "turn_us") if "turn_us" in fields else [],
    )


def load(path: Path) -> list[Samples]:
    """Errors: NotAResult, which names the file."""
    try:
        text = strict_json.read(path)
    except strict_json.NotJson as error:
        raise NotAResult(f"{path}: {error}") from error
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found.append(_parse(line))
        except ValueError as error:
            raise NotAResult(f"{path}, line {number}: {error}") from error
    return found
