# SPDX-License-Identifier: MIT
"""What comes last on a page: the expectations, the disturbed rows, and what was
skipped."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.answers.answer import skipped_sentence
from reports.answers.disturbed import disturbed, sentence
from reports.answers.expectations import summary, table
from reports.answers.judging import Verdict, judgements
from reports.results.rows import Result
from reports.results.text import Table

MOST_DISTURBED = 5  # rows in sight


@dataclass(frozen=True)
class Closing:
    """Sentences, each "" if it has no subject, with their tables."""

    expectations: str
    failed: Table | None
    unclear: Table | None
    held: Table | None
    disturbed: str
    most_disturbed: Table | None
    also_disturbed: Table | None
    skipped: str
    skipped_cases: Table | None


def _table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> Table | None:
    return Table(headings, lines) if lines else None


def closing(result: Result) -> Closing:
    judged = judgements(result)
    by_verdict = ([j for j in judged if j.verdict == verdict] for verdict in Verdict)
    failed, unclear, held = (table(found) if found else None for found in by_verdict)
    noisy = [[row.name, ", ".join(why)] for row, why in disturbed(result)]
    cases = [[case.name, case.reason] for case in result.skipped]
    return Closing(
        summary(judged) if judged else "",
        *(failed, unclear, held),
        sentence(result),
        _table(("row", "why"), noisy[:MOST_DISTURBED]),
        _table(("row", "why"), noisy[MOST_DISTURBED:]),
        skipped_sentence(result),
        _table(("case", "skipped because"), cases),
    )
