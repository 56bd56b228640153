# SPDX-License-Identifier: MIT
"""Reads the SVG of a plot."""

import html
import re
from xml.etree import ElementTree

from reports.pages.plotting.figure import COLOURS, Figure

SVG = "{http://www.w3.org/2000/svg}"
BLUE = f"fill: var(--blue, {COLOURS[0]})"


def fill(number: int) -> str:
    """The style of what has the colour of this number."""
    return BLUE if number == 0 else f"fill: {COLOURS[number].lower()}"


def boxes(figure: Figure, colour: str) -> list[float]:
    """The widths of the bars of this colour; not of its squares in the legend."""
    widths = []
    for path in ElementTree.fromstring(figure.svg).iter(f"{SVG}path"):
        if colour in path.get("style", "") and path.get("clip-path"):
            xs = [float(x) for x in re.findall(r"[ML] ([\d.]+) ", path.get("d", ""))]
            widths.append(max(xs) - min(xs))
    return widths


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
