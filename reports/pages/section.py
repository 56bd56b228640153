# SPDX-License-Identifier: MIT
"""The section of a page about one experiment."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from reports.answers.answer import (
    answer_of,
    details_of,
    expectation_of,
    question_of,
)
from reports.answers.cells import optional
from reports.answers.expectations import table
from reports.answers.judging import judgements
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
    judged: Table | None = None  # what became of it
    answer: str = ""
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    worded: list[Table] = field(default_factory=list)  # tables of sentences
    skipped: list[Failure] = field(default_factory=list)
    errors: list[Failure] = field(default_factory=list)
    rows: int = 0  # number of measured rows
    anchor: str = ""  # unique in the page

    @property
    def summary(self) -> str:
        """The entry in the table of contents."""
        if self.answer:
            return self.answer
        return (
            f"No answer: {self.rows} measured, {len(self.skipped)} skipped, "
            f"{len(self.errors)} failed."
        )


def experiments(result: Result) -> list[str]:
    """The experiments of the result: first those with a module, in their order."""
    names = dict.fromkeys(name.partition("/")[0] for name in result.names)
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


def _judged(result: Result, experiment: str) -> Table | None:
    judged = judgements(result, experiment)
    return table(judged) if judged else None


def _of(experiment: str, failures: Iterable[Failure]) -> list[Failure]:
    return [f for f in failures if f.name.partition("/")[0] == experiment]


def section(result: Result, experiment: str) -> Section:
    """Errors: NotAResult, if a row lacks what the program writes."""
    summary = answer_of(result, experiment)
    rows = len(result.of(experiment))
    plain = [_plain(result, experiment)] if rows else []
    return Section(
        name=experiment,
        question=question_of(experiment, result),
        expectation=expectation_of(experiment, result),
        judged=_judged(result, experiment),
        answer=summary[0] if summary else "",
        figures=_figures(result, experiment),
        tables=[*([summary[1]] if summary else plain), *details_of(result, experiment)],
        skipped=_of(experiment, result.skipped),
        errors=_of(experiment, result.errors),
        rows=rows,
    )


def _figures(result: Result, experiment: str) -> list[Figure]:
    if result.of_null_gpu:
        return []
    if experiment not in known():
        return plain(result, experiment)
    own = known()[experiment].figures
    return own(result) if own else []
