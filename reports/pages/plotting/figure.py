# SPDX-License-Identifier: MIT
"""A plot as an SVG that can stand inside a page, with one look for all."""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from reports.pages.plotting.palette import COLOURS, GRID, PAPER
from reports.pages.plotting.svg import LINES, inline

__all__ = ["COLOURS", "HALF", "PAPER", "Figure", "draw"]

HALF = (5.2, 3.2)  # inches: two of them stand side by side on a wide screen
_STYLE = {
    "axes.prop_cycle": matplotlib.cycler(color=COLOURS),
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
    description: str  # for who cannot see it: what it shows, in a sentence
    svg: str  # as wide as its place in the page, in the page's colours

    @property
    def size(self) -> tuple[float, float]:
        """Its natural width and height in points."""
        view = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', self.svg)
        assert view is not None
        return float(view[1]), float(view[2])

    def document(self) -> str:
        """The same as a file of its own: dark on white, in its natural size."""
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
    """Calls `paint` with empty axes of `size` inches. The title stands outside."""
    with matplotlib.rc_context(_STYLE):
        canvas = Canvas(figsize=size)  # without pyplot, which keeps all figures
        paint(canvas.subplots())
        text = io.StringIO()
        canvas.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return Figure(title, description, inline(text.getvalue(), title, description))
