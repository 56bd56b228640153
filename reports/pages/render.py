# SPDX-License-Identifier: MIT
"""Renders a page as one HTML file, and as Markdown with separate plots."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from reports.pages.page import Page
from reports.pages.section import Section
from reports.results.text import Table

HALF = 430  # points: the width of a plot in two columns; wider ones take both
HERE = Path(__file__).resolve().parent
_CODE = re.compile(r"`([^`]+)`")
_POWER = re.compile(r"(?<=\w)\^(-?\d+(?:\.\d+)?|[A-Z]\b)")
# Markup at the start of a line: heading, list or quotation.
_BLOCK = re.compile(r"^(>|#+(?=\s)|[-+=](?=\s)|\d+[.)](?=\s))")


def prose_as_html(text: str) -> Markup:
    """Escapes the text, except `code` and powers."""
    safe = str(escape(text))
    safe = _CODE.sub(r"<code>\1</code>", safe)
    return Markup(_POWER.sub(r"<sup>\1</sup>", safe))


def prose_as_markdown(text: str) -> str:
    """Escapes the text, except `code`."""
    parts = _CODE.split(" ".join(text.split()))
    for place, part in enumerate(parts):
        if place % 2:
            parts[place] = f"`{part}`"
        else:
            parts[place] = re.sub(r"[\\<*`\[]", r"\\\g<0>", part)
    return _BLOCK.sub(lambda m: f"{m[1][:-1]}\\{m[1][-1]}", "".join(parts))


def _environment(autoescape: bool) -> Environment:
    return Environment(
        loader=FileSystemLoader(HERE),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def as_html(page: Page, markdown: str) -> str:
    """The page as one self-contained file. `markdown` names the Markdown page."""
    environment = _environment(autoescape=True)
    environment.filters["prose"] = prose_as_html
    style = (HERE / "style.css").read_text(encoding="utf-8")
    html = environment.get_template("page.html.jinja").render(
        page=page, style=Markup(style), markdown=quote(markdown), half=HALF
    )
    return html.rstrip() + "\n"


def _image(section: Section, number: int) -> str:
    return f"{section.anchor}-{number}.svg"


def as_markdown(page: Page, directory: str) -> str:
    """The page with links to the plots in `directory`."""
    environment = _environment(autoescape=False)
    environment.filters["prose"] = prose_as_markdown
    text = environment.get_template("page.md.jinja").render(
        page=page, image=lambda *which: f"{quote(directory)}/{_image(*which)}"
    )
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def images(page: Page) -> dict[str, str]:
    """By name, the plots that the Markdown page links to."""
    return {
        _image(section, number): figure.document()
        for section in page.sections
        for number, figure in enumerate(section.figures, start=1)
    }


def _named_tables(page: Page) -> Iterator[tuple[str, Table | None]]:
    opening = page.opening
    yield "expectations", opening.judged
    yield "disturbed", opening.disturbed_rows
    yield "changes", opening.changes
    yield "environment", page.environment
    for section in page.sections:
        yield f"{section.anchor}-expectations", section.judged
        tables = [*section.tables, *section.worded]
        for number, table in enumerate(tables, start=1):
            yield f"{section.anchor}-{number}", table


def tables(page: Page) -> dict[str, str]:
    """By name, every table of the page as CSV."""
    return {f"{name}.csv": table.csv() for name, table in _named_tables(page) if table}
