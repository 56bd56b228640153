# SPDX-License-Identifier: MIT
"""The content of a page, independent of its format."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from reports.answers.answer import failed_sentence, incomplete, unmeasured
from reports.answers.headline import sentences
from reports.pages.plot import picture
from reports.pages.plotting.canvas import Figure
from reports.pages.sections import Section, sections
from reports.results import text
from reports.results.rows import Result
from reports.results.text import Table


def _when(date: str) -> str:
    try:
        moment = datetime.fromisoformat(date)
        if moment.tzinfo is None:
            return f"{moment:%Y-%m-%d %H:%M}"
        return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError):  # the latter in the years 1 and 9999
        return date


def facts(result: Result) -> list[tuple[str, str]]:
    """Returns the facts that a reader needs before the numbers."""
    context = result.context
    counts = f"{len(result.rows)} measured, {len(result.skipped)} skipped"
    known = [
        ("Device", context.get("device", "")),
        ("Date", _when(context.get("date", ""))),
        ("Revision", result.revision),
        ("Suite", context.get("suite", "")),
        ("Threads", context.get("threads", "")),
        ("PyTorch", context.get("torch", "")),
        ("Driver", context.get("driver", "")),
        ("System", context.get("os", "")),
        ("Cases", f"{counts}, {len(result.errors)} failed"),
    ]
    return [(name, value) for name, value in known if value]


def warnings(result: Result) -> list[str]:
    """Returns reasons to trust the numbers less."""
    dirty = "The program was built from sources with uncommitted changes."
    reasons = [unmeasured(result), incomplete(result), dirty if result.is_dirty else ""]
    return list(filter(None, [*reasons, failed_sentence(result)]))


def _cache(cache: dict[str, object]) -> str:
    size = text.size(float(str(cache["size"])))
    return f"L{cache['level']} {str(cache['type']).lower()} {size}"


def _formatted(key: str, value: str) -> str:
    """Formats a value with its unit; an unreadable value stays unchanged."""
    try:
        if key.endswith("_bytes"):
            return text.size(float(value))
        if key == "caches":
            return ", ".join(_cache(cache) for cache in ast.literal_eval(value))
        if key == "load_avg":
            return ", ".join(text.significant(load) for load in ast.literal_eval(value))
    except (ValueError, SyntaxError, KeyError, TypeError):
        pass
    return value


def environment(result: Result) -> Table:
    lines = [[key, _formatted(key, value)] for key, value in result.context.items()]
    return Table(["key", "value"], sorted(lines))


@dataclass(frozen=True)
class Page:
    title: str
    facts: list[tuple[str, str]]
    warnings: list[str]
    sentences: list[str]
    picture: Figure | None
    sections: list[Section]
    environment: Table


def slug(text: str) -> str:
    """Keeps the letters and digits, with dashes between words; "" if there are none."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")


def _anchored(sections: Iterable[Section]) -> Iterator[Section]:
    """Gives the sections unique anchors."""
    used = {"top", "opening", "contents", "environment"}  # in the template
    for made in sections:
        stem = slug(made.name) or "section"
        numbered = (f"{stem}-{number}" for number in count(2))
        anchor = next(name for name in chain([stem], numbered) if name not in used)
        used.add(anchor)
        yield replace(made, anchor=anchor)


def _title(context: dict[str, str]) -> str:
    suite, device = context.get("suite"), context.get("device")
    title = f"trainbench: {suite} suite" if suite else "trainbench"
    return f"{title} on {device}" if device else title


def page(result: Result, trace: Path | None = None) -> Page:
    """Makes the page of a result. `trace` is the directory with its memory traces.
    Errors: NotAResult."""
    return Page(
        title=_title(result.context),
        facts=facts(result),
        warnings=warnings(result),
        sentences=sentences(result),
        picture=picture(result),
        sections=list(_anchored(sections(result, trace))),
        environment=environment(result),
    )
