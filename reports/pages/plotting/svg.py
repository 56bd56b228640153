# SPDX-License-Identifier: MIT
"""Turns the SVG of matplotlib into one that can be inlined in a page."""

import html
import re
from collections import Counter

from reports.pages.plotting.palette import COLOURS, GRID, PAPER

# On a narrow screen a plot shrinks to this scale and then scrolls: text stays legible.
_LEAST_SCALE = 0.68
LINES = "stroke-linejoin: round; stroke-linecap: butt"


def inline(svg: str, title: str, description: str) -> str:
    """Removes the XML prologue, makes ids unique in the page, and the size flexible."""
    svg = svg[svg.index("<svg") :]
    for part in ("metadata", "style"):  # an inline style applies to the whole page
        svg = re.sub(rf"<{part}\b.*?</{part}>", "", svg, flags=re.DOTALL)
    svg = _slim(_themed(svg))
    prefix = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    svg = _named(svg, prefix)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    for size in ("width", "height"):
        svg = re.sub(rf'(<svg\b[^>]*?) {size}="[^"]*"', r"\1", svg, count=1)
    label = html.escape(description)
    return svg.replace(
        "<svg", f'<svg role="img" aria-label="{label}" style="{_place(svg)}"', 1
    )


def _named(svg: str, prefix: str) -> str:
    """Adds the prefix to all ids, and a number to repeated ones."""
    seen: Counter[str] = Counter()

    def name(found: re.Match[str]) -> str:
        seen[found[1]] += 1
        again = f"-{seen[found[1]]}" if seen[found[1]] > 1 else ""
        return f'id="{prefix}-{found[1]}{again}"'

    return re.sub(r'\bid="([^"]+)"', name, svg)


def _place(svg: str) -> str:
    """The style of the root: its width, and properties that its parts inherit."""
    style = "width: 100%; height: auto"
    width = re.search(r'<svg[^>]*?\bviewBox="0 0 ([\d.]+)', svg)
    if width:
        style += f"; max-width: {width[1]}pt"
        style += f"; min-width: {float(width[1]) * _LEAST_SCALE:.0f}pt"
    return f"{style}; fill: currentColor; {LINES}"


def _themed(svg: str) -> str:
    """Replaces colours and fonts by those of the surrounding page."""
    svg = re.sub(r"#000000\b", "currentColor", svg)
    svg = re.sub(rf"{COLOURS[0].lower()}\b", f"var(--blue, {COLOURS[0]})", svg)
    svg = re.sub(rf"{GRID}\b", f"var(--grid, {GRID})", svg)
    svg = re.sub(rf"{PAPER}\b", f"var(--paper, {PAPER})", svg)
    return re.sub(r" ?font-family: [^;\"]*;?", "", svg)


def _slim(svg: str) -> str:
    """Removes numbered ids and empty elements, rounds to a hundredth of a point."""
    svg = re.sub(r' id="[\w.]+_\d+"', "", svg)
    svg = re.sub(
        r'\b(?:d|x|y|points|transform)="[^"]*"',
        lambda m: re.sub(r"(\.\d\d)\d+", r"\1", m[0]),
        svg,
    )
    for nothing in (
        r' transform="rotate\(-0 [^"]*"',
        r'<path d="[^"]*" style="fill: none"/>',
        r"<defs>\s*</defs>",
    ):
        svg = re.sub(nothing, "", svg)
    return re.sub(r"\s*\n\s*", "\n", svg)
