# SPDX-License-Identifier: MIT
"""The answer of one experiment, from rows made by hand."""

from typing import Any

from reports.answers import answers
from reports.results.rows import parse
from results import document


def answered(experiment: str, *rows: dict[str, Any]) -> tuple[str, str]:
    """The sentence and the table of an experiment with these rows."""
    (answer,) = answers(parse(document(*rows)))
    assert answer.experiment == experiment
    return answer.sentence, answer.table.markdown()
