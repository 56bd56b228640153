# SPDX-License-Identifier: MIT
"""A plot as an SVG that can stand inside a page, with one look for all."""

import html
import io
import re
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")  # before pyplot: there may be no display

from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402

# Okabe and Ito's colours, which people with colour-blindness can tell apart.
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#F0E442",
    "#000000",
)
_STYLE = {
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "font.size": 10,
    "font.family": "sans-serif",
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: small, searchable, sharp
    "svg.hashsalt": "trainbench",  # the same figure gives the same bytes
    "figure.constrained_layout.use": True,
}


@dataclass(frozen=True)
class Figure:
    title: str
    description: str  # for who cannot see it: what it shows, in a sentence
    svg: str  # as wide as its place in the page


def draw(
    title: str,
    description: str,
    paint: Callable[[Axes], None],
    size: tuple[float, float] = (7.2, 3.6),
) -> Figure:
    """Calls `paint` with empty axes of `size` inches. The title stands outside."""
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(figsize=size)
        try:
            paint(axes)
            text = io.StringIO()
            figure.savefig(
                text, format="svg", transparent=True, metadata={"Date": None}
            )
        finally:
            pyplot.close(figure)
    return Figure(title, description, _inline(text.getvalue(), title, description))


def _inline(svg: str, title: str, description: str) -> str:
    """Without the XML prologue, scalable, and with ids that no other figure has."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    prefix = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    width = re.search(r'<svg[^>]*?\bviewBox="0 0 ([\d.]+)', svg)
    style = "width: 100%; height: auto"
    if width:
        style += f"; max-width: {width[1]}pt"
    for size in ("width", "height"):
        svg = re.sub(rf'(<svg\b[^>]*?) {size}="[^"]*"', r"\1", svg, count=1)
    label = html.escape(description)
    return svg.replace(
        "<svg", f'<svg role="img" aria-label="{label}" style="{style}"', 1
    )
