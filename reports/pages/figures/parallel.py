# SPDX-License-Identifier: MIT
"""Several ranks: the law of a collective, and what data parallelism hides of it."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from reports import text
from reports.alpha_beta import AlphaBeta, fit_alpha_beta
from reports.pages.figure import COLOURS, Figure, draw
from reports.pages.figures.bars import Bar, Look, Scale, below, inches, stacked
from reports.rows import Result, Row

MOST_SETTINGS = 6  # figures of an experiment; the run's last ones are its largest
LOOKS = {
    "step alone": Look(COLOURS[0]),
    "communication it hides": Look(COLOURS[0], "////"),
    "exposed communication": Look(COLOURS[3]),
    "step": Look("#999999"),
    "forward, loss, backward": Look(COLOURS[0]),
    "communication": Look(COLOURS[3]),
    "optimizer": Look(COLOURS[1]),
    "optimizer state": Look(COLOURS[1]),
    "everything else": Look(COLOURS[5]),
}


@dataclass(frozen=True)
class Series:
    """One backend with so many ranks."""

    name: str
    sizes: list[float]
    times_us: list[float]
    fit: AlphaBeta | None  # None: all of one size
    marker: str
    colour: str


def _series(result: Result) -> list[Series]:
    found: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in result.of("all_reduce"):
        found[row.words["backend"], int(row["ranks"])].append(row)
    backends = list(dict.fromkeys(backend for backend, _ in found))
    series = []
    for index, ((backend, ranks), rows) in enumerate(found.items()):
        rows = sorted(rows, key=lambda row: row["bytes"])
        sizes = [row["bytes"] for row in rows]
        times = [row["p50_us"] for row in rows]
        fit = fit_alpha_beta(sizes, times) if len(set(sizes)) > 1 else None
        marker = "osD^"[backends.index(backend) % 4]
        colour = COLOURS[index % len(COLOURS)]
        name = f"{backend}, {ranks} ranks"
        series.append(Series(name, sizes, times, fit, marker, colour))
    return series


def _law(one: Series) -> str:
    if one.fit is None:
        return one.name
    if not one.fit.us_per_byte:
        return f"{one.name}: {text.time(one.fit.alpha_us)}, whatever S"
    rate = text.rate(one.fit.bytes_per_second, "B/s")
    return f"{one.name}: {text.time(one.fit.alpha_us)} + S / ({rate})"


def _logarithmic(axes: Axes, told: Callable[[float], str], what: str) -> None:
    """Sizes below, `what` to the left, both in units that people read."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(LogLocator(base=32, numticks=20))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: text.size(size)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: told(value)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("size S of the buffer")
    axes.set_ylabel(what)


def _curves(
    axes: Axes, series: Sequence[Series], value: Callable[[float, float], float]
) -> None:
    """`value` of a size and a time: measured as points, fitted as a line."""
    for one in series:
        points = [value(*point) for point in zip(one.sizes, one.times_us, strict=True)]
        measured = {"marker": one.marker, "color": one.colour, "markersize": 5}
        if one.fit is None:
            axes.plot(one.sizes, points, linestyle="none", label=one.name, **measured)
            continue
        dense = np.geomspace(min(one.sizes), max(one.sizes), 60)
        fitted = [value(size, one.fit.time_us(size)) for size in dense]
        axes.plot(one.sizes, points, linestyle="none", **measured)
        axes.plot(dense, fitted, color=one.colour, linewidth=1.2)
        # One entry shows both.
        axes.plot([], [], linewidth=1.2, label=_law(one), **measured)


def all_reduce(result: Result) -> list[Figure]:
    """Time and rate over size, with the law fitted to each backend and ranks."""
    series = _series(result)
    if not any(one.fit for one in series):
        return []

    def times(axes: Axes) -> None:
        _logarithmic(axes, text.time, "time")
        _curves(axes, series, lambda _, time_us: time_us)
        below(axes, columns=2)

    def rates(axes: Axes) -> None:
        told = lambda rate: text.rate(rate, "B/s")  # noqa: E731
        _logarithmic(axes, told, "algorithm bandwidth")
        _curves(axes, series, lambda size, time_us: size / time_us * 1e6)
        below(axes, columns=2)

    laws = "; ".join(map(_law, series))
    size = (7.2, 3.4 + 0.22 * ((len(series) + 1) // 2))
    return [
        draw(
            "All-reduce: time over size",
            f"Measured times, and a fixed cost plus size by rate fitted: {laws}.",
            times,
            size,
        ),
        draw(
            "All-reduce: bandwidth over size",
            f"Size by time, as measured and as the fit has it: {laws}.",
            rates,
            size,
        ),
    ]


def _settings(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Rows of the same work on the same device, by its name; the last ones only."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        work = " ".join(
            row.words[key] for key in ("model", "precision") if key in row.words
        )
        found[f"{work}, {int(row['batch'])} x {int(row['seq'])}"].append(row)
    return list(found.items())[-MOST_SETTINGS:]


def _by_ranks(rows: Sequence[Row]) -> list[tuple[str, Row]]:
    """The rows of few ranks first, each with the name of its group."""

    def ranks(row: Row) -> int:
        return int(row.get("as_one_of") or row["ranks"])

    return [(f"{ranks(row)} ranks", row) for row in sorted(rows, key=ranks)]


def _ddp_parts(row: Row) -> dict[str, float]:
    """What adds up to the step. Communication that is hidden takes no time."""
    if row.words["strategy"] == "alone":
        return {"step alone": row["p50_us"]}
    alone, exposed = row.get("alone_us"), row.get("exposed_us")
    if alone is None or exposed is None:
        return {"step": row["p50_us"]}
    # By noise it can be faster with communication than without.
    alone, exposed = min(alone, row["p50_us"]), max(exposed, 0.0)
    hidden = min(max((row.get("collectives_us") or 0) - exposed, 0.0), alone)
    return {
        "step alone": alone - hidden,
        "communication it hides": hidden,
        "exposed communication": exposed,
    }


def _ddp_bar(group: str, row: Row) -> Bar:
    bucket = row.get("bucket_mb")
    label = row.words["strategy"]
    if bucket is not None:
        label += f" {text.significant(bucket)} MB"
    predicted = row.get("predicted_us")
    told = text.time(row["p50_us"])
    return Bar(label, _ddp_parts(row), told, predicted, group)


def _fastest(rows: Sequence[Row]) -> str:
    """Of each number of ranks the fastest strategy."""
    best: dict[str, Row] = {}
    for ranks, row in _by_ranks(rows):
        if row.words["strategy"] != "alone":
            so_far = best.setdefault(ranks, row)
            best[ranks] = min(so_far, row, key=lambda one: one["p50_us"])
    told = ", ".join(
        f"with {ranks} {bar.label} at {bar.told}"
        for bar, ranks in ((_ddp_bar("", row), ranks) for ranks, row in best.items())
    )
    return f"The step alone and the communication exposed beside it. Fastest {told}."


def ddp(result: Result) -> list[Figure]:
    """Of each setting the strategies: the step alone, and what stays exposed."""
    rows = result.of("ddp")
    if all(row.words["strategy"] == "alone" for row in rows):
        return []
    figures = []
    for setting, settled in _settings(rows):
        bars = [_ddp_bar(*member) for member in _by_ranks(settled)]

        def paint(axes: Axes, bars: list[Bar] = bars) -> None:
            stacked(axes, bars, LOOKS, Scale(text.time, mark_name="predicted"))
            below(axes, 4, list(LOOKS))

        title = f"Data parallelism: {setting}"
        size = (7.2, inches(bars, 4, 4))
        figures.append(draw(title, _fastest(settled), paint, size))
    return figures


def _time_bar(group: str, row: Row) -> Bar:
    communication = row.get("communication_us") or 0.0
    optimizer = row.get("optimizer_us") or 0.0
    rest = max(row["p50_us"] - communication - optimizer, 0.0)
    parts = {
        "forward, loss, backward": rest,
        "communication": communication,
        "optimizer": optimizer,
    }
    return Bar(row.words["sharding"], parts, text.time(row["p50_us"]), None, group)


def _memory_bar(group: str, row: Row) -> Bar:
    peak, state = row.get("peak_bytes") or 0.0, row.get("state_bytes") or 0.0
    parts = {"optimizer state": state, "everything else": max(peak - state, 0.0)}
    predicted = row.get("predicted_peak_bytes")
    return Bar("", parts, text.size(peak), predicted, group)


def _side_by_side(axes: Axes, times: list[Bar], sizes: list[Bar]) -> None:
    grid = axes.figure.add_gridspec(1, 2)
    axes.set_subplotspec(grid[0])
    right = axes.figure.add_subplot(grid[1])
    stacked(axes, times, LOOKS, Scale(text.time))
    axes.set_title("time of a step", fontsize=10)
    stacked(right, sizes, LOOKS, Scale(text.size, binary=True, mark_name="predicted"))
    right.set_title("peak memory of a rank", fontsize=10)
    right.set_yticklabels([])  # those to the left serve both
    for each in (axes, right):
        each.tick_params(axis="x", labelsize=8)
    below(axes, 3)


def sharded_optimizer(result: Result) -> list[Figure]:
    """Of each setting the shardings: time to the left, memory to the right."""
    figures = []
    for setting, settled in _settings(result.of("sharded_optimizer")):
        members = _by_ranks(settled)
        times = [_time_bar(*member) for member in members]
        sizes = [_memory_bar(*member) for member in members]

        def paint(
            axes: Axes, times: list[Bar] = times, sizes: list[Bar] = sizes
        ) -> None:
            _side_by_side(axes, times, sizes)

        told = ", ".join(
            f"{time.label} ({time.group}) {time.told} and {size.told}"
            for time, size in zip(times, sizes, strict=True)
        )
        title = f"Sharded optimizer: {setting}"
        height = inches(times, 6) + 0.3
        figures.append(draw(title, f"{told}.", paint, (7.2, height)))
    return figures
