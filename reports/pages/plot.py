# SPDX-License-Identifier: MIT
"""Draws the plots that the spec of an experiment names."""

from collections.abc import Callable, Sequence
from functools import partial

from matplotlib.axes import Axes

from reports.answers.against import compared
from reports.answers.cells import formatted, heading_of
from reports.answers.measured import Measured, counter_of, over, time_of
from reports.answers.shapes import case_text, only, selected
from reports.answers.tables import common, varying
from reports.experiments.spec import TIME, Bars, Lines, Phases, Plot
from reports.pages.figures.phases import phases
from reports.pages.plotting.axes import legend_above, set_binary_ticks, set_log_ticks
from reports.pages.plotting.bars import CLEAR_COLOURS, INCHES_AROUND, INCHES_PER_LINE
from reports.pages.plotting.figure import COLOURS, HALF, Figure, draw
from reports.pages.plotting.grouped import Bar, grouped
from reports.results.rows import Result, Row

MOST = 40  # cases that are legible one below the other
MARKERS = "osD^vPX*"


def figures(result: Result, experiment: str, plots: Sequence[Plot]) -> list[Figure]:
    rows = result.of(experiment)
    return [figure for plot in plots for figure in _drawn(rows, experiment, plot)]


def _drawn(rows: Sequence[Row], experiment: str, plot: Plot) -> list[Figure]:
    if isinstance(plot, Phases):
        chosen = [row for row in rows if selected(row, plot.where)][:MOST]
        if not chosen:
            return []
        label = _point_label(chosen)
        return phases(chosen, label, f"{experiment}: phases of {common(chosen)}")
    known = [row for row in rows if _has(row, plot.counter)]
    if isinstance(plot, Lines):
        known = [row for row in known if plot.x in row.numbers]
    drawn: list[Figure] = []
    for name, group in only(known, plot.split).items():
        what = f"{experiment}: {heading_of(plot.counter)}"
        title = f"{what}, {name}" if name else what
        if isinstance(plot, Lines):
            drawn += _lines(group, title, plot)
        else:
            drawn += _bars(group, title, plot)
    return drawn


def _has(row: Row, counter: str) -> bool:
    return counter == TIME or bool(row.get(counter))


def _value(row: Row, counter: str) -> Measured:
    return time_of(row) if counter == TIME else counter_of(row, counter)


def _label(rows: Sequence[Row], *but: str) -> Callable[[Row], str]:
    """What tells the row from the others."""
    keys = [key for key in varying(rows) if key not in but]
    fixed = {key for row in rows for key in row.parameters} - set(keys)
    return lambda row: case_text(row, *fixed)


def _point_label(rows: Sequence[Row]) -> Callable[[Row], str]:
    label = _label(rows)
    return lambda row: label(row) or row.name.partition("/")[2] or row.name


def _bars(rows: Sequence[Row], title: str, plot: Bars) -> list[Figure]:
    if plot.versus is None:
        return _points(rows[:MOST], title, plot.counter)
    bars = [
        Bar(choice.label, name, over(_value(row, counter), _value(base, counter)))
        for choice in compared(rows, plot.versus)
        if (base := choice.base)
        for name, row in choice.others.items()
        if (counter := plot.counter)
    ][:MOST]
    kinds = dict.fromkeys(bar.kind for bar in bars)
    colours = dict(zip(kinds, COLOURS * len(kinds), strict=False))
    name = plot.versus.base
    ends = f"multiples of {name}'s, with their 95 % intervals"
    return grouped(bars, colours, f"{title} over {name}", f"As {ends}.", name)


def _points(rows: Sequence[Row], title: str, counter: str) -> list[Figure]:
    """Each value with its 95 % interval."""
    if not rows:
        return []
    values = [_value(row, counter) for row in rows]
    known = [v if v.is_known else Measured(v.value, v.value, v.value) for v in values]
    errors = [[v.value - v.low for v in known], [v.high - v.value for v in known]]
    unit = partial(formatted, rows[0], counter)
    label = _point_label(rows)

    def paint(axes: Axes) -> None:
        places = range(len(rows))
        sizes = [abs(v.value) for v in known if v.value]
        axes.set_xscale("log")
        axes.set_xlim(0.7 * min(sizes, default=1), 1.5 * max(sizes, default=2))
        at = [v.value for v in known]
        axes.errorbar(at, places, xerr=errors, fmt="o", color=COLOURS[0])
        axes.set_yticks(list(places), [label(row) for row in rows], fontsize=8)
        axes.invert_yaxis()
        set_log_ticks(axes.xaxis, unit)

    said = ", ".join(
        f"{label(row)} {unit(value.value)}"
        for row, value in zip(rows, values, strict=True)
    )
    size = (HALF[0], INCHES_AROUND + INCHES_PER_LINE * len(rows))
    return [draw(title, f"With 95 % intervals: {said}.", paint, size)]


def _lines(rows: Sequence[Row], title: str, plot: Lines) -> list[Figure]:
    """Over a parameter, both axes logarithmic."""
    label = _label(rows, plot.x)
    series: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.numbers[plot.x]):
        series.setdefault(label(row), []).append(row)
    if not any(len(points) > 1 for points in series.values()):
        return []
    unit = partial(formatted, rows[0], plot.counter)

    def paint(axes: Axes) -> None:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        for place, (name, points) in enumerate(series.items()):
            axes.plot(
                [row.numbers[plot.x] for row in points],
                [_value(row, plot.counter).value for row in points],
                marker=MARKERS[place % len(MARKERS)],
                color=CLEAR_COLOURS[place % len(CLEAR_COLOURS)],
                label=name,
            )
        set_binary_ticks(axes.xaxis, partial(formatted, rows[0], plot.x))
        set_log_ticks(axes.yaxis, unit)
        axes.set_xlabel(plot.x)
        if len(series) > 1:
            legend_above(axes, 3)

    ends = ", ".join(
        f"{name} {unit(_value(points[-1], plot.counter).value)}"
        for name, points in series.items()
    )
    last = max(row.numbers[plot.x] for row in rows)
    return [draw(title, f"At {plot.x} up to {last}: {ends}.", paint, HALF)]
