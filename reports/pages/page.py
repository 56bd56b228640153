# SPDX-License-Identifier: MIT
"""The content of a page, independent of its format."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reports.answers.headline import sentences
from reports.pages import environment
from reports.pages.across import advice_section, history_section, roofline_section
from reports.pages.closing import Closing, closing
from reports.pages.figures.phases import picture
from reports.pages.figures.timelines import timelines
from reports.pages.plotting.canvas import Figure
from reports.pages.section import Section, experiments, section
from reports.results.rows import NotAResult, Result
from reports.results.text import Table

# The ids in the templates.
FIXED = (
    *("top", "opening", "contents", "expectations", "disturbed", "skipped"),
    "environment",
)


@dataclass(frozen=True)
class Page:
    title: str
    facts: list[tuple[str, str]]
    warnings: list[str]
    sentences: list[str]
    picture: Figure | None
    sections: list[Section]
    closing: Closing
    environment: Table


def _sections(results: Sequence[Result], trace: Path | None) -> Iterator[Section]:
    result = results[-1]
    yield from advice_section(result)
    for experiment in experiments(result):
        made = section(result, experiment)
        if experiment == "memory" and trace is not None:
            made = replace(made, figures=made.figures + timelines(trace))
        yield made
        if experiment == "peak" and not result.of_null_gpu:
            yield from roofline_section(result)
    yield from history_section(results)


def _anchored(sections: Iterable[Section]) -> Iterator[Section]:
    """The sections with unique anchors."""
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
    title = f"trainbench: {suite} suite" if suite else "trainbench"
    return f"{title} on {device}" if device else title


def page(results: Sequence[Result], trace: Path | None = None) -> Page:
    """The page of the last result, the newest; earlier results are its history.

    `trace` is the directory with its memory traces. Errors: NotAResult.
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
        sentences=sentences(result),
        picture=picture(result),
        sections=sections,
        closing=closing(result),
        environment=environment.environment(result),
    )
