# SPDX-License-Identifier: MIT
"""The part of a page that is about one experiment."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from reports.answers.answer import SUMMARIES, expectation_of, question_of
from reports.pages.figures import FIGURES
from reports.pages.plotting.figure import Figure
from reports.results import text
from reports.results.rows import Failure, NotAResult, Result
from reports.results.text import Table


@dataclass(frozen=True)
class Section:
    """What is not known of it is empty."""

    name: str
    question: str = ""
    expectation: str = ""
    answer: str = ""
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    skipped: list[Failure] = field(default_factory=list)
    errors: list[Failure] = field(default_factory=list)
    rows: int = 0  # measured ones
    anchor: str = ""  # that no other section has

    @property
    def summary(self) -> str:
        """What stands for it in the contents."""
        if self.answer:
            return self.answer
        return (
            f"No answer: {self.rows} measured, {len(self.skipped)} skipped, "
            f"{len(self.errors)} failed."
        )


def experiments(result: Result) -> list[str]:
    """Those of which the result knows anything: first the known, in their order."""
    failures = [*result.skipped, *result.errors]
    names = [row.experiment for row in result.rows]
    names += [failure.name.partition("/")[0] for failure in failures]
    return [name for name in SUMMARIES if name in names] + [
        name for name in dict.fromkeys(names) if name not in SUMMARIES
    ]


def _plain(result: Result, experiment: str) -> Table:
    """The rows of an experiment for which there is no better table."""
    lines = [
        [
            row.name,
            text.time(row.time_us),
            text.size(row["peak_bytes"]) if row.get("peak_bytes") is not None else "-",
        ]
        for row in result.of(experiment)
    ]
    return Table(["case", "time", "peak memory"], lines)


def _of(experiment: str, failures: Iterable[Failure]) -> list[Failure]:
    return [one for one in failures if one.name.partition("/")[0] == experiment]


def section(result: Result, experiment: str) -> Section:
    """Errors: NotAResult, if its rows are not such as the program writes."""
    try:
        return _section(result, experiment)
    except (KeyError, ValueError, ZeroDivisionError) as error:
        raise NotAResult(f"the rows of {experiment} are damaged: {error}") from error


def _section(result: Result, experiment: str) -> Section:
    known = experiment in SUMMARIES
    told = SUMMARIES[experiment](result) if known else None
    rows = len(result.of(experiment))
    plain = [_plain(result, experiment)] if rows else []
    return Section(
        name=experiment,
        question=question_of(experiment) if known else "",
        expectation=expectation_of(experiment) if known else "",
        answer=told[0] if told else "",
        figures=FIGURES[experiment](result) if experiment in FIGURES else [],
        tables=[told[1]] if told else plain,
        skipped=_of(experiment, result.skipped),
        errors=_of(experiment, result.errors),
        rows=rows,
    )
