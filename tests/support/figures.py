# SPDX-License-Identifier: MIT
"""Reads the SVG of a plot."""

import html
import re
from collections import Counter
from collections.abc import Sequence

from reports.pages.plotting.canvas import Figure


def texts(svg: str) -> list[str]:
    found = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return [html.unescape(text).strip() for text in found]


def gids(svg: str, start: str) -> list[str]:
    """Returns the names of the parts that begin with `start`."""
    return re.findall(rf'<g class="({start}[^"]*)"', svg)


def outline(figures: Sequence[Figure]) -> str:
    """Lists the title, the description, the texts and the named parts of each."""
    lines = []
    for figure in figures:
        parts = Counter(gids(figure.svg, "")).items()
        lines += [figure.title, figure.description, " | ".join(texts(figure.svg))]
        lines.append(" | ".join(f"{count} {name}" for name, count in parts))
    return "\n".join(lines)
