# SPDX-License-Identifier: MIT
"""Bars in groups, coloured by kind, with their intervals, beside a line at 1."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from reports.answers.measured import Measured
from reports.pages.plotting.axes import (
    height,
    legend_above,
    name_groups,
    set_ticks,
    write_beside,
)
from reports.pages.plotting.figure import HALF, Figure, draw
from reports.results import text

_WIDEST = 1.0  # the widest half-width that leaves room for the bars


@dataclass(frozen=True)
class Bar:
    group: str
    kind: str
    value: Measured

    @property
    def end(self) -> float:
        """Of the interval, if it is drawn."""
        return self.value.high if self.has_interval else self.value.value

    @property
    def has_interval(self) -> bool:
        return self.value.is_known and 0 < self.value.half_width <= _WIDEST


def grouped(
    bars: Sequence[Bar],
    colours: Mapping[str, str],
    title: str,
    description: str,
    one: str,
    formatted: Callable[[float], str] = text.significant,
) -> list[Figure]:
    """One figure, none without bars. `one`: what the line at 1 is."""
    if not bars:
        return []

    def paint(axes: Axes) -> None:
        for kind, colour in colours.items():
            places = [at for at, bar in enumerate(bars) if bar.kind == kind]
            widths = [bars[at].value.value for at in places]
            if places:
                axes.barh(places, widths, 0.66, color=colour, label=kind)
        for place, bar in enumerate(bars):
            if bar.has_interval:
                ends = [bar.value.low, bar.value.high]
                (line,) = axes.plot(ends, [place] * 2, color="black", linewidth=1)
                line.set_gid(f"interval-{place}")
        name_groups(axes, [bar.group for bar in bars])
        values = [formatted(bar.value.value) for bar in bars]
        write_beside(axes, [bar.end for bar in bars], values)
        axes.set_xlim(0, max(1.1, axes.get_xlim()[1]))
        axes.axvline(1, color="black", linewidth=1, linestyle="--", label=one)
        legend_above(axes, len({bar.kind for bar in bars}) + 1)
        set_ticks(axes.xaxis, formatted)

    return [draw(title, description, paint, (HALF[0], height(len(bars))))]
