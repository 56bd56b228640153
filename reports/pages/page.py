# SPDX-License-Identifier: MIT
"""What is on a page, whichever format it is written in."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reports.pages import environment
from reports.pages.across import history_section, roofline_section
from reports.pages.figures import memory
from reports.pages.section import Section, experiments, section
from reports.results.rows import NotAResult, Result
from reports.results.text import Table

FIXED = ("top", "contents", "environment")  # ids of the page itself


@dataclass(frozen=True)
class Page:
    title: str
    facts: list[tuple[str, str]]
    warnings: list[str]
    environment: Table
    sections: list[Section]


def _sections(results: Sequence[Result], trace: Path | None) -> Iterator[Section]:
    result = results[-1]
    for experiment in experiments(result):
        made = section(result, experiment)
        if experiment == "memory" and trace is not None:
            made = replace(made, figures=made.figures + memory.timelines(trace))
        yield made
        if experiment == "peak":
            yield from roofline_section(result)
    yield from history_section(results)


def _anchored(sections: Iterable[Section]) -> Iterator[Section]:
    """With ids that no other part of the page has."""
    used = set(FIXED)
    for made in sections:
        stem = re.sub(r"[^A-Za-z0-9_]+", "-", made.name).strip("-") or "section"
        anchor, number = stem, 1
        while anchor in used:
            number += 1
            anchor = f"{stem}-{number}"
        used.add(anchor)
        yield replace(made, anchor=anchor)


def _title(context: dict[str, str]) -> str:
    suite, device = context.get("suite"), context.get("device")
    what = f"trainbench: {suite} suite" if suite else "trainbench"
    return f"{what} on {device}" if device else what


def page(results: Sequence[Result], trace: Path | None = None) -> Page:
    """Of the last result, which is the newest; those before it are its history.

    `trace` is the directory of its memory traces. Errors: NotAResult.
    """
    result = results[-1]
    try:
        sections = list(_anchored(_sections(results, trace)))
    except ValueError as error:
        raise NotAResult(str(error)) from error
    return Page(
        title=_title(result.context),
        facts=environment.facts(result),
        warnings=environment.warnings(result),
        environment=environment.environment(result),
        sections=sections,
    )
