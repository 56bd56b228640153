# SPDX-License-Identifier: MIT
"""Plots of attention over sequence length."""

from collections.abc import Callable
from operator import itemgetter

from matplotlib.axes import Axes
from matplotlib.axis import Axis

from reports.answers import flash
from reports.answers.attention import exponent_of, series_of
from reports.pages.plotting.axes import (
    Formatter,
    legend_above,
    nested,
    set_binary_ticks,
    set_log_ticks,
    set_ticks,
    set_ticks_at,
)
from reports.pages.plotting.figure import COLOURS, HALF, Figure, draw
from reports.results import text
from reports.results.rows import Result, Row

Value = Callable[[Row], float]
Ticks = Callable[[Axis, Formatter], None]
MARKERS = "os^Dv"
SIZE = (HALF[0], 3.5)


def _grown(
    series: dict[str, list[Row]], value: Value, formatted: Formatter, ticks: Ticks
) -> Callable[[Axes], None]:
    """Paints the points of each variant, and its fitted power law."""

    def paint(axes: Axes) -> None:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        for number, (variant, rows) in enumerate(series.items()):
            colour = COLOURS[number]
            fit = exponent_of(rows, value)
            seqs = sorted(row["seq"] for row in rows)
            axes.plot(
                [row["seq"] for row in rows],
                [value(row) for row in rows],
                MARKERS[number % len(MARKERS)],
                color=colour,
                fillstyle="none",
                markersize=nested(number)["markersize"],
            )
            axes.plot(
                seqs,
                [fit.at(seq) for seq in seqs],
                color=colour,
                linewidth=nested(number)["linewidth"] / 2,
                label=f"{variant}: T^{fit.exponent:.2f}",
            )
        every = {row["seq"] for rows in series.values() for row in rows}
        set_ticks_at(axes.xaxis, sorted(every), lambda seq: str(int(seq)))
        ticks(axes.yaxis, formatted)
        axes.set_xlabel("tokens T")
        legend_above(axes, 2)

    return paint


def attention_scaling(result: Result) -> list[Figure]:
    shown: dict[str, dict[str, dict[str, list[Row]]]] = {}
    sizes: dict[str, tuple[int, int]] = {}
    for (variant, precision, phase, batch, d_head), rows in series_of(
        result.of("attention_scaling")
    ).items():
        # One batch and head size per precision; the table holds the others.
        if sizes.setdefault(precision, (batch, d_head)) == (batch, d_head):
            shown.setdefault(precision, {}).setdefault(phase, {})[variant] = rows
    figures = []
    for precision, phases in shown.items():
        which = "in {}, batch {}, d {}".format(precision, *sizes[precision])
        for phase, series in phases.items():
            figures.append(
                draw(
                    f"Time of the {phase} pass, {which}",
                    f"The time of attention's {phase} pass over the sequence, with "
                    "the power law fitted to each variant.",
                    _grown(
                        *(series, lambda row: row.time_us, text.time, set_log_ticks)
                    ),
                    SIZE,
                )
            )
        figures += _memory(next(iter(phases.values())), which)
    return figures


def _memory(series: dict[str, list[Row]], which: str) -> list[Figure]:
    quantities = {
        "Saved for the backward pass": ("saved_bytes", "What attention keeps"),
        "Peak memory of both passes": ("peak_bytes", "The most that attention takes"),
    }
    figures = []
    for title, (counter, what) in quantities.items():
        known = {
            variant: rows
            for variant, rows in series.items()
            if all(row.get(counter) for row in rows)
        }
        if known:
            figures.append(
                draw(
                    f"{title}, {which}",
                    f"{what} over the sequence, with the fitted power laws.",
                    _grown(known, itemgetter(counter), text.size, set_binary_ticks),
                    SIZE,
                )
            )
    return figures


def _rates(series: dict[str, list[Row]]) -> Callable[[Axes], None]:
    """Paints a line of FLOP/s for each variant."""

    def paint(axes: Axes) -> None:
        axes.set_xscale("log", base=2)
        for number, (variant, rows) in enumerate(series.items()):
            points = sorted((row["seq"], row[flash.RATE]) for row in rows)
            (line,) = axes.plot(
                *zip(*points, strict=True),
                f"{MARKERS[number % len(MARKERS)]}-",
                color=COLOURS[number],
                label=variant,
                **nested(number),
            )
            line.set_gid(f"rates-of-{variant}")
        every = {row["seq"] for rows in series.values() for row in rows}
        set_ticks_at(axes.xaxis, sorted(every), _tokens)
        axes.set_ylim(bottom=0)
        set_ticks(axes.yaxis, lambda rate: text.rate(rate, "FLOP/s") if rate else "0")
        axes.set_xlabel("tokens T")
        legend_above(axes, 3)

    return paint


def _tokens(seq: float) -> str:
    """Short, since ten of them stand side by side."""
    return f"{int(seq) // 1024}k" if seq >= 1024 else str(int(seq))


def flash_attention(result: Result) -> list[Figure]:
    shown: dict[tuple[str, ...], dict[str, list[Row]]] = {}
    for (variant, *setting), rows in flash.series_of(
        result.of("flash_attention")
    ).items():
        shown.setdefault(tuple(setting), {})[variant] = rows
    # Of each precision and phase the heads with most lengths, the table has all.
    best: dict[tuple[str, ...], tuple[str, ...]] = {}
    for precision, phase, heads, d_head in shown:
        rank = (_lengths(shown[precision, phase, heads, d_head]), int(d_head))
        known = best.get((precision, phase))
        if known is None or rank > (_lengths(shown[known]), int(known[-1])):
            best[precision, phase] = (precision, phase, heads, d_head)
    return [
        draw(
            f"FLOP/s of the {phase.replace('_', ' and ')} pass, in {precision}, "
            f"{text.plural(int(heads), 'head')}, d {d_head}",
            "The FLOP per second of attention kernels, without the masked half, over "
            "the sequence.",
            _rates(shown[precision, phase, heads, d_head]),
            SIZE,
        )
        for precision, phase, heads, d_head in best.values()
        if _lengths(shown[precision, phase, heads, d_head]) > 1
    ]


def _lengths(series: dict[str, list[Row]]) -> int:
    return len({row["seq"] for rows in series.values() for row in rows})
