# SPDX-License-Identifier: MIT
"""Reads the SVG of a plot."""

import html
import re


def texts(svg: str) -> list[str]:
    found = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return [html.unescape(text).strip() for text in found]


def gids(svg: str, start: str) -> list[str]:
    """The ids of the groups that begin so, without the prefix of the figure."""
    return re.findall(rf'<g id="[^"]*?({start}[^"]*)"', svg)


def markers(svg: str, gid: str) -> int:
    """The number of markers of a line."""
    group = re.search(rf'<g id="[^"]*-{gid}">(.*?)</g>\s*</g>', svg, re.DOTALL)
    return group[1].count("<use") if group else 0
