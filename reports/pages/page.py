# SPDX-License-Identifier: MIT
"""What is on a page, whichever format it is written in."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reports import text
from reports.answers.answer import TELLERS, expectation_of, question_of
from reports.pages import environment
from reports.pages.figure import Figure
from reports.pages.figures import FIGURES
from reports.rows import Failure, NotAResult, Result
from reports.text import Table

FIXED = ("top", "contents", "environment")  # ids of the page itself


@dataclass(frozen=True)
class Section:
    """One experiment. What is not known of it is empty."""

    name: str
    anchor: str  # that no other section has
    question: str
    expectation: str
    answer: str
    figures: list[Figure]
    tables: list[Table]
    skipped: list[Failure]
    errors: list[Failure]
    rows: int  # measured ones

    @property
    def summary(self) -> str:
        """What stands for it in the contents."""
        if self.answer:
            return self.answer
        return (
            f"No answer: {self.rows} measured, {len(self.skipped)} skipped, "
            f"{len(self.errors)} failed."
        )


@dataclass(frozen=True)
class Page:
    title: str
    facts: list[tuple[str, str]]
    warnings: list[str]
    environment: Table
    sections: list[Section]


def _experiments(result: Result) -> list[str]:
    """Those of which the result knows anything: first the known, in their order."""
    failures = [*result.skipped, *result.errors]
    names = [row.experiment for row in result.rows]
    names += [failure.name.partition("/")[0] for failure in failures]
    return [name for name in TELLERS if name in names] + [
        name for name in dict.fromkeys(names) if name not in TELLERS
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


def _section(result: Result, experiment: str, anchor: str) -> Section:
    """Errors: NotAResult, if its rows are not such as the program writes."""
    try:
        return _told_section(result, experiment, anchor)
    except (KeyError, ValueError, ZeroDivisionError) as error:
        raise NotAResult(f"the rows of {experiment} are damaged: {error}") from error


def _told_section(result: Result, experiment: str, anchor: str) -> Section:
    known = experiment in TELLERS
    told = TELLERS[experiment](result) if known else None
    tables = [told[1]] if told else []
    if not told and result.of(experiment):
        tables = [_plain(result, experiment)]
    return Section(
        name=experiment,
        anchor=anchor,
        question=question_of(experiment) if known else "",
        expectation=expectation_of(experiment) if known else "",
        answer=told[0] if told else "",
        figures=FIGURES[experiment](result) if experiment in FIGURES else [],
        tables=tables,
        skipped=_of(experiment, result.skipped),
        errors=_of(experiment, result.errors),
        rows=len(result.of(experiment)),
    )


def anchors(names: Iterable[str]) -> Iterator[str]:
    """Of each name an id that no other part of the page has."""
    used = set(FIXED)
    for name in names:
        stem = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-") or "section"
        anchor, number = stem, 1
        while anchor in used:
            number += 1
            anchor = f"{stem}-{number}"
        used.add(anchor)
        yield anchor


def _title(context: dict[str, str]) -> str:
    suite, device = context.get("suite"), context.get("device")
    what = f"trainbench: {suite} suite" if suite else "trainbench"
    return f"{what} on {device}" if device else what


def page(results: Sequence[Result]) -> Page:
    """Of the last result, which is the newest; those before it are its history."""
    result = results[-1]
    experiments = _experiments(result)
    return Page(
        title=_title(result.context),
        facts=environment.facts(result),
        warnings=environment.warnings(result),
        environment=environment.environment(result),
        sections=[
            _section(result, experiment, anchor)
            for experiment, anchor in zip(
                experiments, anchors(experiments), strict=True
            )
        ],
    )
