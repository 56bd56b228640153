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
    judged: Table | None  # those that did not hold
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
    held = [judgement for judgement in judged if judgement.verdict == Verdict.HELD]
    others = judged[: len(judged) - len(held)]  # they come first
    noisy = [[row.name, ", ".join(why)] for row, why in disturbed(result)]
    cases = [[case.name, case.reason] for case in result.skipped]
    return Closing(
        summary(judged) if judged else "",
        table(others) if others else None,
        table(held) if held else None,
        sentence(result),
        _table(("row", "why"), noisy[:MOST_DISTURBED]),
        _table(("row", "why"), noisy[MOST_DISTURBED:]),
        skipped_sentence(result),
        _table(("case", "skipped because"), cases),
    )
