# SPDX-License-Identifier: MIT
"""Draws plots in one common style as SVG for a page."""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from reports.pages.plotting.palette import COLOURS, GRID, PAPER
from reports.pages.plotting.svg import LINES, inline

__all__ = ["COLOURS", "HALF", "PAPER", "Figure", "draw"]

HALF = (5.2, 3.2)  # inches: two of them stand side by side on a wide screen
_STYLE: dict[Any, Any] = {
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "font.size": 10,
    "font.family": "sans-serif",
    "legend.frameon": False,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "svg.fonttype": "none",  # text stays text: small, searchable, sharp
    "svg.hashsalt": "trainbench",  # the same figure gives the same bytes
    "figure.constrained_layout.use": True,
}


@dataclass(frozen=True)
class Figure:
    title: str
    description: str  # alternative text: the content in a sentence
    svg: str  # for a page: flexible width, colours of the page

    @property
    def size(self) -> tuple[float, float]:
        """The natural width and height in points."""
        view = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', self.svg)
        assert view is not None
        return float(view[1]), float(view[2])

    def document(self) -> str:
        """A standalone SVG file: dark on white, in natural size."""
        width, height = self.size
        style = "color: #1f2328; font-family: system-ui, sans-serif"
        style = f"{style}; fill: currentColor; {LINES}"
        start, body = self.svg.split(">", 1)
        start = re.sub(r'style="[^"]*"', f'style="{style}"', start)
        start = start.replace(
            "<svg", f'<svg width="{width:g}pt" height="{height:g}pt"', 1
        )
        return f'{start}><rect width="100%" height="100%" fill="white"/>{body}'


def draw(
    title: str,
    description: str,
    paint: Callable[[Axes], None],
    size: tuple[float, float] = (7.2, 3.6),
) -> Figure:
    """Calls `paint` with empty axes of `size` inches. The page shows the title."""
    with matplotlib.rc_context(_STYLE):
        canvas = Canvas(figsize=size)  # pyplot would keep all figures in memory
        paint(canvas.subplots())
        text = io.StringIO()
        canvas.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return Figure(title, description, inline(text.getvalue(), title, description))
