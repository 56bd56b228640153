# SPDX-License-Identifier: MIT
"""The table of counters, and a result with a table of its own."""

from fnmatch import fnmatchcase

import pytest

from reports.answers.measured import counter_of
from reports.compare.exact import Change, changes
from reports.results.counters import default_table
from reports.results.result_file import load, parse
from reports.results.rows import Row
from results import REFERENCE, document, entry


def own(**counter: str) -> dict[str, str]:
    return {"unit": "", "kind": "value", "better": "", "meaning": "", **counter}


def row_of(entries: list[dict[str, str]], **counters: float) -> Row:
    result = document(entry("e/a", 100, "", half_width=0.1, **counters))
    return parse(result | {"counters": entries}).rows[0]


def test_each_counter_of_the_reference_has_one_line() -> None:
    unknown = {
        name
        for row in load(REFERENCE).rows
        for name in row.counters.keys() - row.numbers.keys()
        if not any(fnmatchcase(name, one.counter) for one in row.table.counters)
    }
    names = [one.counter for one in default_table().counters]
    assert not unknown and len(set(names)) == len(names)


def test_a_result_brings_its_own() -> None:
    """Like the result of a program of another version."""
    rows = [
        own(counter="goal", kind="exact", better="higher"),
        own(counter="per_run", kind="rate"),
        own(counter="lag_*", kind="time", unit="us"),
    ]
    row = row_of(rows, goal=2, per_run=3, lag_a=4)
    assert counter_of(row, "per_run").half_width == pytest.approx(0.1, rel=0.02)
    assert not counter_of(row, "lag_a").is_known
    assert counter_of(row, "goal").half_width == 0
    (change,) = changes([row], [row_of(rows, goal=1, per_run=9, lag_a=9)])
    assert (change.metric, change.change) == ("goal", Change.WORSE)
