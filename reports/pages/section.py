# SPDX-License-Identifier: MIT
"""The section of a page about one experiment."""

from dataclasses import dataclass, field

from reports.answers.answer import (
    answer_of,
    details_of,
    expectation_of,
    question_of,
)
from reports.answers.cells import optional
from reports.experiments import known
from reports.pages.figures.plain import plain
from reports.pages.plotting.figure import Figure
from reports.results import text
from reports.results.rows import Failure, Result
from reports.results.text import Table


@dataclass(frozen=True)
class Section:
    """The content about one experiment; unknown fields are empty."""

    name: str
    question: str = ""
    expectation: str = ""
    answer: str = ""
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    details: list[Table] = field(default_factory=list)  # behind a fold
    errors: list[Failure] = field(default_factory=list)
    anchor: str = ""  # unique in the page


def experiments(result: Result) -> list[str]:
    """The experiments with a row or an error: first those with a module, in order."""
    names = dict.fromkeys(case.name.partition("/")[0] for case in result.rows)
    names |= dict.fromkeys(case.name.partition("/")[0] for case in result.errors)
    first = [name for name in known() if name in names]
    return first + [name for name in names if name not in known()]


def _plain(result: Result, experiment: str) -> Table:
    """The rows of an experiment without a summary."""
    lines = [
        [
            row.name,
            "-" if result.of_null_gpu else text.time(row.time_us),
            optional(row, "peak_bytes", text.size),
        ]
        for row in result.of(experiment)
    ]
    return Table(["case", "time", "peak memory"], lines)


def section(result: Result, experiment: str) -> Section:
    """Errors: NotAResult, if a row lacks what the program writes."""
    summary = answer_of(result, experiment)
    has_rows = bool(result.of(experiment))
    plain = [_plain(result, experiment)] if has_rows else []
    errors = [case for case in result.errors if case.name.startswith(f"{experiment}/")]
    return Section(
        name=experiment,
        question=question_of(experiment, result),
        expectation=expectation_of(experiment, result),
        answer=summary[0] if summary else "",
        figures=_figures(result, experiment),
        tables=[summary[1]] if summary else plain,
        details=details_of(result, experiment),
        errors=errors,
    )


def _figures(result: Result, experiment: str) -> list[Figure]:
    if result.of_null_gpu:
        return []
    own = known()[experiment].figures if experiment in known() else None
    return own(result) if own else plain(result, experiment)
