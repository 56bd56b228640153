# SPDX-License-Identifier: MIT
"""Draws the plots that the spec of an experiment names."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from typing import TypeVar

from reports.answers.against import compared, size_of
from reports.answers.cells import formatted, heading_of
from reports.answers.measured import Measured, counter_of
from reports.answers.shapes import selected, step_text, values_text
from reports.answers.tables import PHASES, common, label_of, phases_of
from reports.experiments.spec import Bars, Lines, Phases, Plot
from reports.experiments.specs import IMPLEMENTATION
from reports.pages.plotting.bars import Bar, Look, draw_bars
from reports.pages.plotting.canvas import CLEAR_COLORS, COLORS, Figure, Point
from reports.pages.plotting.lines import Plane, Series, draw_lines, logarithmic
from reports.results import text
from reports.results.rows import Result, Row, grouped

T = TypeVar("T")
_OF_PHASES = Look(
    text.time,
    inside=text.time,
    colors=dict(zip(PHASES, (COLORS[i] for i in (0, 1, 2, 4, 3)), strict=True)),
)
MOST = 40  # legible cases in one plot


def figures(result: Result, experiment: str, plots: Sequence[Plot]) -> list[Figure]:
    rows = result.of(experiment)
    return [figure for plot in plots for figure in _drawn(rows, experiment, plot)]


def _drawn(rows: Sequence[Row], experiment: str, plot: Plot) -> list[Figure]:
    if isinstance(plot, Phases):
        chosen = [row for row in rows if selected(row, plot.where)]
        if not chosen:
            return []
        label = label_of(chosen)
        return _phases(chosen, label, f"{experiment}: phases of {common(chosen)}")
    known = [row for row in rows if row.get(plot.counter)]
    if isinstance(plot, Lines):
        known = [r for r in known if plot.x in r.numbers and selected(r, plot.where)]
    split = plot.split.split()
    drawn: list[Figure] = []
    for name, group in grouped(known, lambda row: values_text(row, split)).items():
        what = f"{experiment}: {heading_of(plot.counter)}"
        title = f"{what}, {name}" if name else what
        if isinstance(plot, Lines):
            drawn += _lines(group, title, plot)
        else:
            drawn += _bars(group, title, plot)
    return drawn


def _legible(cases: Sequence[T]) -> tuple[Sequence[T], str]:
    """Returns the last cases, which are the largest, and what to say of the others."""
    return cases[-MOST:], text.not_shown(len(cases) - MOST, "case")


def _bar(label: str, part: str, value: Measured, shown: str, group: str = "") -> Bar:
    ends = (value.low, value.high) if value.is_known else None
    return Bar(label, {part: value.value}, shown, group, ends)


def _have_intervals(bars: Sequence[Bar]) -> bool:
    return any(bar.interval and bar.interval[0] < bar.interval[1] for bar in bars)


def _bars(rows: Sequence[Row], title: str, plot: Bars) -> list[Figure]:
    if plot.versus is None:
        return _points(rows, title, plot.counter)
    every = []
    for choice in compared(rows, plot.versus):
        base = counter_of(choice.base, plot.counter)
        for name, row in choice.others.items():
            ratio = counter_of(row, plot.counter) / base
            shown = text.significant(ratio.value)
            every.append(_bar(name, name, ratio, shown, choice.label))
    bars, others = _legible(every)
    if not bars:
        return []
    colors = dict(zip(dict.fromkeys(bar.label for bar in bars), cycle(COLORS)))
    base_name = plot.versus.base
    look = Look(text.significant, line=base_name, colors=colors)
    intervals = ", with their 95 % intervals" if _have_intervals(bars) else ""
    said = f"As multiples of {base_name}'s{intervals}.{others}"
    return [draw_bars(f"{title} over {base_name}", said, bars, look)]


def _points(every: Sequence[Row], title: str, counter: str) -> list[Figure]:
    """Plots values with 95 % intervals; logarithmic if bars would be too short."""
    rows, others = _legible(every)
    values = [counter_of(row, counter) for row in rows]
    unit = partial(formatted, rows[0], counter)
    label = label_of(rows)
    bars = [
        _bar(label(row), counter, value, unit(value.value))
        for row, value in zip(rows, values, strict=True)
    ]
    sizes = [value.value for value in values]
    log = min(sizes) > 0 and max(sizes) > 20 * min(sizes)
    binary = rows[0].table.find(counter).unit == "B"
    look = Look(unit, binary=binary, log=log, colors={counter: COLORS[0]})
    intervals = "With 95 % intervals: " if _have_intervals(bars) else "Values: "
    said = ", ".join(f"{bar.label} {bar.value}" for bar in bars)
    return [draw_bars(title, f"{intervals}{said}.{others}", bars, look)]


def _lines(rows: Sequence[Row], title: str, plot: Lines) -> list[Figure]:
    """Plots a counter over a parameter; both axes are logarithmic."""
    label = label_of(rows, plot.x)
    unit = partial(formatted, rows[0], plot.counter)
    binary = rows[0].table.find(plot.counter).unit == "B"
    found: dict[str, list[Point]] = {}
    for row in sorted(rows, key=lambda row: row.numbers[plot.x]):
        point = row.numbers[plot.x], counter_of(row, plot.counter).value
        if min(point) > 0:
            found.setdefault(label(row), []).append(point)
    if not any(len(points) > 1 for points in found.values()):
        return []
    every = [point for points in found.values() for point in points]
    plane = Plane(
        logarithmic([x for x, _ in every], base=2),
        logarithmic([y for _, y in every], base=2 if binary else 10),
        text.size if plot.x in ("size", "bytes") else lambda x: f"{x:g}",
        unit,
        x_label=plot.x,
    )
    alone = " " if len(found) == 1 else ""  # begins with a blank: not in the legend
    series = {
        alone or name or title: Series(color, points, points)
        for (name, points), color in zip(found.items(), cycle(CLEAR_COLORS))
    }
    ends = ", ".join(
        f"{n} {unit(points[-1][1])}".strip() for n, points in found.items()
    )
    last = max(x for x, _ in every)
    return [
        draw_lines(
            title,
            f"At {plot.x} up to {plane.x_formatted(last)}: {ends}.",
            plane,
            series,
        )
    ]


def _phases(
    rows: Sequence[Row], label: Callable[[Row], str], title: str
) -> list[Figure]:
    """Returns one figure, or none if no row has phases."""
    shown, others = _legible([row for row in rows if phases_of(row)])
    bars = [Bar(label(row), phases_of(row), text.time(row.time_us)) for row in shown]
    if not bars:
        return []
    totals = ", ".join(f"{bar.label} {bar.value}" for bar in bars)
    said = f"The median time of each phase: {totals}.{others}"
    return [draw_bars(title, said, bars, _OF_PHASES)]


def picture(result: Result) -> Figure | None:
    """Draws the largest step in each implementation, or else all train steps of
    `model_size`. Returns None without times."""
    if result.of_null_gpu:
        return None
    found = compared(result.of("implementations"), IMPLEMENTATION)
    if found:
        largest = max(found, key=size_of)
        rows = list(largest.rows.values())
        title = f"Where the time of {largest.label} goes"
        drawn = _phases(rows, lambda row: row.words[IMPLEMENTATION.word], title)
    else:
        steps = result.of("model_size", mode="train_step")
        drawn = _phases(steps, step_text, "Where the time of a step goes")
    return drawn[0] if drawn else None
