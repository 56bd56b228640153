# SPDX-License-Identifier: MIT
"""A plot as an SVG that can stand inside a page, with one look for all."""

import html
import io
import re
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

# Okabe and Ito's colours, which people with colour-blindness can tell apart.
# Black is whatever the page writes in, so that it shows on a dark page too.
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
GRID = "#e3e3e3"
PAPER = "#fffffe"  # the page's own, to set letters off what is behind them
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
# A narrow screen shrinks a plot to this and then scrolls it: text stays legible.
_LEAST_SCALE = 0.68
_LINES = "stroke-linejoin: round; stroke-linecap: butt"


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
        style = f"{style}; fill: currentColor; {_LINES}"
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
    return Figure(title, description, _inline(text.getvalue(), title, description))


def _inline(svg: str, title: str, description: str) -> str:
    """Without the XML prologue, scalable, and with ids that no other figure has."""
    svg = svg[svg.index("<svg") :]
    for part in ("metadata", "style"):  # its style would be that of the whole page
        svg = re.sub(rf"<{part}\b.*?</{part}>", "", svg, flags=re.DOTALL)
    svg = _slim(_themed(svg))
    prefix = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    for size in ("width", "height"):
        svg = re.sub(rf'(<svg\b[^>]*?) {size}="[^"]*"', r"\1", svg, count=1)
    label = html.escape(description)
    return svg.replace(
        "<svg", f'<svg role="img" aria-label="{label}" style="{_place(svg)}"', 1
    )


def _place(svg: str) -> str:
    """The style of the whole: how wide, and what its parts inherit."""
    style = "width: 100%; height: auto"
    width = re.search(r'<svg[^>]*?\bviewBox="0 0 ([\d.]+)', svg)
    if width:
        style += f"; max-width: {width[1]}pt"
        style += f"; min-width: {float(width[1]) * _LEAST_SCALE:.0f}pt"
    return f"{style}; fill: currentColor; {_LINES}"


def _themed(svg: str) -> str:
    """In the colours and letters of the page that it stands in."""
    svg = re.sub(r"#000000\b", "currentColor", svg)
    svg = re.sub(rf"{COLOURS[0].lower()}\b", f"var(--blue, {COLOURS[0]})", svg)
    svg = re.sub(rf"{GRID}\b", f"var(--grid, {GRID})", svg)
    svg = re.sub(rf"{PAPER}\b", f"var(--paper, {PAPER})", svg)
    return re.sub(r" ?font-family: [^;\"]*;?", "", svg)


def _slim(svg: str) -> str:
    """Without the names that matplotlib counts, and to a hundredth of a point."""
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
