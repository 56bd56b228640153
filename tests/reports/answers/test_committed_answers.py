# SPDX-License-Identifier: MIT
"""The answers of the committed run with more noise."""

import re
from dataclasses import replace

from reports.answers.answer import answers
from reports.answers.headline import sentences
from reports.results.result_file import load
from reports.results.rows import Row, Turns, ends_of
from results import REFERENCE


def noisy(row: Row) -> Row:
    """Widens the row's intervals so far that any two of a counter meet."""
    ends = {
        end: far
        for counter, value in row.counters.items()
        for end, far in zip(
            ends_of(counter), sorted((value / 1e3, value * 1e3)), strict=True
        )
        if end in row.counters
    }
    turns = Turns(row.name, "all", (1.0,))
    return replace(row, counters=row.counters | ends, each={}, turns=turns)


def test_noise_alone_makes_no_comparative() -> None:
    run = load(REFERENCE)
    made = replace(run, rows=list(map(noisy, run.rows)), profiles=[])
    told = [*sentences(made), *(answer.sentence for answer in answers(made))]
    clauses = [one for said in told for one in re.split(r"; |\. (?=[A-Z`])", said)]
    comparative = re.compile(
        r"takes most|shortens `|lengthens `| times the time"
        r"|has the (highest|lowest) (time|share|[\w' ]*rate)"
    )
    found = [one for one in clauses if comparative.search(one)]
    assert found
    assert [one for one in found if "cannot be told from this run" not in one] == []
