# SPDX-License-Identifier: MIT
"""Renders a page as one HTML file, and as Markdown with separate plots."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from reports.pages.page import Page, slug
from reports.results.text import Table, plural

COLUMN = 430  # points: the width of one of two columns; wider plots span both
LONG = 60  # characters; a longer cell contains prose
MOST_LINES, MOST_COLUMNS = 3, 7  # in a Markdown table
LONGEST_NAME = 120  # letters of a title in a file's name
HERE = Path(__file__).resolve().parent
_CODE = re.compile(r"`([^`]+)`")
_CODE_OR_MARKUP = re.compile(r"(?P<code>`[^`]+`)|[\\<*`\[]")
_POWER = re.compile(r"(?<=\w)\^(-?\d+(?:\.\d+)?|[A-Z]\b)")
# Markup at the start of a line: heading, list or quotation.
_BLOCK = re.compile(r"^(>|#+(?=\s)|[-+=](?=\s)|\d+[.)](?=\s))")


def prose_as_html(text: str) -> Markup:
    """Escapes the text, and formats `code` and powers."""
    safe = str(escape(text))
    safe = _CODE.sub(r"<code>\1</code>", safe)
    return Markup(_POWER.sub(r"<sup>\1</sup>", safe))


def prose_as_markdown(text: str) -> str:
    """Escapes the text, except `code`."""
    line = " ".join(text.split())
    line = _CODE_OR_MARKUP.sub(lambda m: m["code"] or rf"\{m[0]}", line)
    return _BLOCK.sub(lambda m: f"{m[1][:-1]}\\{m[1][-1]}", line)


def _templates(autoescape: bool, *folders: Path) -> Environment:
    """Returns an environment with the templates in the folders and in this one."""
    return Environment(
        loader=FileSystemLoader([*folders, HERE]),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def is_wordy(table: Table) -> bool:
    """Returns whether some cells contain sentences, which must be wrapped."""
    return any(len(cell) > LONG for line in table.lines for cell in line)


def html_of(template: str, *folders: Path, **content: Any) -> str:
    """Renders one self-contained file in the common style, from a template in the
    folders or in this one."""
    environment = _templates(True, *folders)
    environment.filters |= {"prose": prose_as_html, "wordy": is_wordy}
    style = Markup((HERE / "style.css").read_text(encoding="utf-8"))
    made = environment.get_template(template)
    return made.render(style=style, column=COLUMN, **content).rstrip() + "\n"


def _brief(table: Table, html: str) -> str:
    """Formats the last lines, which are of the largest cases, and the first columns of
    a large table as Markdown, with a link to the HTML page for the rest, which takes as
    much room as two lines."""
    lines = table.lines
    if len(lines) > MOST_LINES + 2:
        lines = lines[-MOST_LINES:]
    kept = replace(table, lines=lines).compact(MOST_COLUMNS)
    more = [
        plural(count, noun)
        for count, noun in (
            (len(table.lines) - len(lines), "line"),
            (len(table.headings) - len(kept.headings), "column"),
        )
        if count
    ]
    rest = f"\n\n{' and '.join(more)} more in [{html}]({quote(html)})." if more else ""
    return kept.markdown() + rest


def as_html(page: Page, markdown: str) -> str:
    """Renders one self-contained file. `markdown` is the name of the Markdown page."""
    return html_of("page.html.jinja", page=page, markdown=quote(markdown))


def _image(anchor: str, number: int) -> str:
    return f"{anchor}-{number}.svg"


def as_markdown(page: Page, directory: str, html: str) -> str:
    """Renders the main parts of the page, with links to the plots in `directory` and to
    the complete page `html`."""
    environment = _templates(autoescape=False)
    environment.filters |= {
        "prose": prose_as_markdown,
        "brief": lambda table: _brief(table, html),
    }
    text = environment.get_template("page.md.jinja").render(
        page=page, image=lambda *which: f"{quote(directory)}/{_image(*which)}"
    )
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def images(page: Page) -> dict[str, str]:
    """Returns by name the plots that the Markdown page links to."""
    figures = {"opening": [page.picture] if page.picture else []}
    figures |= {section.anchor: section.figures for section in page.sections}
    return {
        _image(anchor, number): figure.document()
        for anchor, each in figures.items()
        for number, figure in enumerate(each, start=1)
    }


def tables(page: Page) -> dict[str, str]:
    """Returns by name every table of the page as CSV. A name has the table's title, and
    its number in the section if there is no title or another table has the name."""
    named = {"environment": page.environment}
    for section in page.sections:
        for number, table in enumerate([*section.tables, *section.details], start=1):
            title = slug(table.title.lower())[:LONGEST_NAME]
            name = f"{section.anchor}-{title or number}"
            named[f"{name}-{number}" if name in named else name] = table
    return {f"{name}.csv": table.csv() for name, table in named.items()}
