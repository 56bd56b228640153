# SPDX-License-Identifier: MIT
"""Plots of the peak and transfer rates of a device."""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes

from reports.pages.plotting.axes import (
    Formatter,
    height,
    legend_above,
    name_bars,
    nested,
    set_binary_ticks,
    set_log_ticks,
    set_ticks,
    write_beside,
)
from reports.pages.plotting.figure import COLOURS, HALF, Figure, draw
from reports.results import text
from reports.results.rows import Result, Row

Value = Callable[[Row], float]


def _bars(
    title: str, description: str, rows: Sequence[Row], counter: str, unit: str
) -> list[Figure]:
    """A plot with a bar for each row that has the counter."""
    rows = [row for row in rows if row.get(counter)]
    if not rows:
        return []
    rates = [row[counter] for row in rows]

    def paint(axes: Axes) -> None:
        axes.barh(range(len(rows)), rates, 0.66)
        name_bars(axes, [_work(row) for row in rows])
        write_beside(axes, rates, [text.rate(rate, unit) for rate in rates])
        set_ticks(axes.xaxis, lambda value: text.rate(value, unit) if value else "0", 3)

    return [draw(title, description, paint, (HALF[0], height(len(rows)) - 0.4))]


_PRODUCTS = ("matmul", "linear")


def _work(row: Row) -> str:
    if row.words["work"] in _PRODUCTS:
        shape = " x ".join(str(int(row[side])) for side in "mnk")
        library = row.words.get("library", "")
        return f"{row.words['precision']} {shape} {library}".rstrip()
    return f"{row.words['work']} {text.size(row['size'])}"


def peak(result: Result) -> list[Figure]:
    moves = [
        row
        for work in ("copy", "update", "stream")
        for row in result.of("peak", work=work)
    ]
    return [
        *_bars(
            "Arithmetic rate of matrix products",
            "FLOP per second of each matrix product, m x n x k.",
            [row for work in _PRODUCTS for row in result.of("peak", work=work)],
            *("flops_per_second", "FLOP/s"),
        ),
        *_bars(
            "Memory rate of copies and updates",
            "Bytes read and written per second, by the bytes of the buffer.",
            moves,
            *("bytes_per_second", "B/s"),
        ),
    ]


def _way(row: Row) -> str:
    """The kind and direction of a transfer."""
    return " ".join(row.words.values())


def _over_size(
    title: str, description: str, result: Result, value: Value, ticks: Formatter
) -> list[Figure]:
    """A plot with a line over size for each kind of transfer; none for one size."""
    rows = [row for row in result.of("transfer") if row.get("bytes_per_second")]
    if len({row["size"] for row in rows}) < 2:
        return []
    # The cache of a CPU matters, but not in transfers between devices.
    cache = result.context.get("last_level_cache_bytes")
    cache = cache if result.context.get("device_kind") == "cpu" else None

    def paint(axes: Axes) -> None:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        for number, way in enumerate(dict.fromkeys(map(_way, rows))):
            points = sorted(
                (row["size"], value(row)) for row in rows if _way(row) == way
            )
            axes.plot(
                *zip(*points, strict=True),
                "o-",
                color=COLOURS[number % len(COLOURS)],
                label=way,
                **nested(number),
            )
        if cache:
            place = float(cache)
            axes.axvline(place, color="black", linestyle=":", label="last-level cache")
        set_binary_ticks(axes.xaxis, text.size)
        set_log_ticks(axes.yaxis, ticks)
        axes.set_xlabel("size of the buffer")
        legend_above(axes, 3)

    return [draw(title, description, paint, (HALF[0], 3.5))]


def transfer(result: Result) -> list[Figure]:
    return [
        *_over_size(
            "Rate of transfers over their size",
            "Bytes per second of each kind of transfer, by the size of the buffer.",
            result,
            lambda row: row["bytes_per_second"],
            lambda rate: text.rate(rate, "B/s"),
        ),
        *_over_size(
            "Time of transfers over their size",
            "Where the line is flat, it is the start that one pays.",
            result,
            lambda row: row.time_us,
            text.time,
        ),
    ]
