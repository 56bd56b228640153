# SPDX-License-Identifier: MIT
"""Plots of memory over time, from the files of --memory_trace."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MultipleLocator
from numpy.typing import NDArray

from reports.pages.plotting.figure import COLOURS, Figure, draw
from reports.results import text

MOST = 8  # figures; a paper run writes more traces than a page can hold
BUCKETS = 240  # spans of time, each drawn with its extremes
COLUMNS = ["time_us", "live_bytes", "event", "bytes", "operator", "phase"]
# A file of an earlier version lacks these.
MORE_COLUMNS = ["step", "component", "layer", "shape", "dtype"]
SHADES = {"forward": 0, "loss": 1, "backward": 2, "optimizer": 4}  # of COLOURS
Times = NDArray[np.float64]


@dataclass(frozen=True)
class Timeline:
    name: str
    times_us: Times
    live_bytes: Times
    phases: list[tuple[str, float, float]]  # name, begin, end
    peak: int  # index of the event with most live bytes
    operator: str  # at the peak
    phase: str  # at the peak
    place: str = ""  # at the peak, e.g. "softmax of layer 3"
    steps: int = 1
    begins_us: Sequence[float] = ()  # of the steps after the first


def decimate(times: Times, values: Times, buckets: int = BUCKETS) -> NDArray[np.intp]:
    """The indices of the points to draw, in order.

    Each of `buckets` equal spans of time keeps its first, least, greatest and last
    value. So no peak is lost, and the line enters and leaves each span correctly.
    """
    if len(times) <= buckets:
        return np.arange(len(times))
    span = (times[-1] - times[0]) or 1.0
    bucket = np.minimum(((times - times[0]) / span * buckets).astype(int), buckets - 1)
    frame = pandas.DataFrame({"bucket": bucket, "value": values})
    groups = frame.groupby("bucket")["value"]
    first = np.flatnonzero(~frame["bucket"].duplicated(keep="first"))
    last = np.flatnonzero(~frame["bucket"].duplicated(keep="last"))
    extremes = [groups.idxmin().to_numpy(), groups.idxmax().to_numpy()]
    return np.unique(np.concatenate([first, last, *extremes]))


def _name(stem: str) -> str:
    """The name of the case; file names have underscores instead of slashes."""
    found = re.fullmatch(
        r"memory_([^_]+)_(.+?)_(inference|forward_backward|forward|train_step)"
        r"_batch_(\d+)_seq_(\d+)",
        stem,
    )
    if found is None:
        return stem
    model, precision, mode, batch, seq = found.groups()
    return f"{model} {precision} {mode}, {batch} x {seq}"


def load(path: Path) -> Timeline | None:
    """The timeline; None if nothing was allocated. Errors: ValueError, for a file that
    is no memory trace."""
    try:
        frame = pandas.read_csv(path, keep_default_na=False)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    columns = list(frame.columns)
    if columns not in (COLUMNS, COLUMNS + MORE_COLUMNS):
        raise ValueError(f"{path}: not a memory trace: its columns are others")
    if frame.empty:
        return None
    try:
        times = frame["time_us"].to_numpy(dtype=np.float64)
        live = frame["live_bytes"].to_numpy(dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    peak = int(live.argmax())
    operator, phase = (str(frame[key].iloc[peak]) for key in ("operator", "phase"))
    made = Timeline(
        _name(path.stem), times, live, _phases(frame, times), peak, operator, phase
    )
    return made if columns == COLUMNS else _with_steps(made, frame)


def _with_steps(timeline: Timeline, frame: pandas.DataFrame) -> Timeline:
    """With what the columns after the first ones tell."""
    component, layer = (
        str(frame[key].iloc[timeline.peak]) for key in ("component", "layer")
    )
    begins = np.flatnonzero(frame["step"].diff() > 0)
    # Before its forward pass a call is in step 0.
    in_step = frame["step"].iloc[0] > 0
    later = timeline.times_us[begins[0 if in_step else 1 :]]
    return replace(
        timeline,
        place=f"{component} of layer {layer}" if component and layer else component,
        steps=max(int(frame["step"].max()), 1),
        begins_us=[float(time) for time in later],
    )


def _phases(frame: pandas.DataFrame, times: Times) -> list[tuple[str, float, float]]:
    """Name, begin and end; a phase lasts until the first event of the next phase."""
    changes = np.flatnonzero(frame["phase"].ne(frame["phase"].shift()))
    ends = [*times[changes[1:]], times[-1]]
    names = frame["phase"].iloc[changes]
    return list(zip(names, times[changes], ends, strict=True))


def _shade(axes: Axes, phases: list[tuple[str, float, float]]) -> None:
    """Draws a band per phase, with its name above if there is room."""
    whole = phases[-1][2] - phases[0][1] or 1.0
    free = -np.inf  # where the last name ends
    for name, begin, end in phases:
        colour = COLOURS[SHADES[name]] if name in SHADES else "#999999"
        axes.axvspan(begin, end, color=colour, alpha=0.13, linewidth=0).set_gid(
            f"phase-{name}"
        )
        width = 0.0135 * len(name) * whole
        middle = (begin + end) / 2
        if middle - width / 2 < free:
            continue
        free = middle + width / 2
        place = axes.get_xaxis_transform()
        axes.text(middle, 1.02, name, transform=place, ha="center", fontsize=9)


def _mark_peak(axes: Axes, timeline: Timeline) -> None:
    times = timeline.times_us
    time, size = times[timeline.peak], timeline.live_bytes[timeline.peak]
    operator = f", {timeline.operator}" if timeline.operator else ""
    axes.plot([time], [size], "o", color=COLOURS[3], markersize=6)[0].set_gid("peak")
    # On the side with more room.
    left = time > (times[0] + times[-1]) / 2
    axes.annotate(
        f"peak {text.size(size)}{operator}",
        (time, size),
        xytext=(-8 if left else 8, 4),
        textcoords="offset points",
        ha="right" if left else "left",
        va="bottom",
        fontsize=9,
    )


def _outline(times: Times, live: Times) -> tuple[Times, Times]:
    """The corners of the area under a step function."""
    x, y = np.repeat(times, 2)[1:], np.repeat(live, 2)[:-1]
    return np.concatenate([x[:1], x, x[-1:]]), np.concatenate([[0], y, [0]])


def _paint(axes: Axes, timeline: Timeline) -> None:
    kept = decimate(timeline.times_us, timeline.live_bytes)
    times, live = timeline.times_us[kept], timeline.live_bytes[kept]
    _shade(axes, timeline.phases)
    axes.fill(*_outline(times, live), fc=COLOURS[0] + "40", ec=COLOURS[0], lw=0.9)
    axes.set_xlim(times[0], times[-1] if len(times) > 1 else times[0] + 1)
    top = live.max() * 1.15 or 1.0
    axes.set_ylim(0, top)
    axes.yaxis.set_major_locator(MultipleLocator(2.0 ** np.ceil(np.log2(top / 5))))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda size, _: text.size(size) if size else "0")
    )
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda time, _: text.time(time) if time else "0")
    )
    axes.set_ylabel("live bytes")
    axes.set_xlabel("time since the call began, while being recorded")
    for number, begin in enumerate(timeline.begins_us, start=2):
        axes.axvline(begin, color="#444444", lw=0.8, ls=":").set_gid(f"begin-{number}")
    _mark_peak(axes, timeline)


def _figure(timeline: Timeline, beyond: int) -> Figure:
    name, live = timeline.name, timeline.live_bytes
    steps = f" of {timeline.steps} steps" if timeline.steps > 1 else ""
    place = f", {timeline.place}" if timeline.place else ""
    description = (
        f"Live bytes over the {len(live)} allocations and frees{steps} of {name}: from "
        f"{text.size(live[0])} to a peak of {text.size(live[timeline.peak])} in "
        f"{timeline.phase}{place}."
    )
    if beyond:
        description += f" {beyond} further timelines are not shown."
    return draw(
        f"Memory over time: {name}", description, lambda axes: _paint(axes, timeline)
    )


def timelines(directory: Path) -> list[Figure]:
    """Figures of up to MOST memory traces in the directory, train steps first.

    The description of the last figure gives the number of further traces. Errors:
    ValueError, naming a file that is no memory trace.
    """
    paths = sorted(
        directory.glob("memory_*.csv"),
        key=lambda path: ("train_step" not in path.stem, path.stem),
    )
    loaded = [timeline for timeline in map(load, paths) if timeline is not None]
    shown = loaded[:MOST]
    beyond = len(loaded) - len(shown)
    return [_figure(t, beyond if t is shown[-1] else 0) for t in shown]
