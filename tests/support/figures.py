# SPDX-License-Identifier: MIT
"""Reads the SVG of a plot."""

import html
import re


def texts(svg: str) -> list[str]:
    found = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return [html.unescape(text).strip() for text in found]


def gids(svg: str, start: str) -> list[str]:
    """Returns the names of the parts that begin with `start`."""
    return re.findall(rf'<g class="({start}[^"]*)"', svg)


def markers(svg: str, name: str) -> int:
    """The number of dots of this name."""
    return len(re.findall(rf'<g class="{name}"><circle', svg))
