# SPDX-License-Identifier: MIT
"""Plots of memory over time, from the files of --memory_trace."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reports.pages.plotting.canvas import COLORS, HALF, Canvas, Figure, Point, Scale
from reports.pages.plotting.lines import Plane, frame
from reports.results import text
from reports.results.rows import NotAResult

MOST = 8  # figures; the paper suite writes more traces than fit on a page
BUCKETS = 240  # time spans, each drawn with its extremes
COLUMNS = """
    time_us live_bytes event bytes operator phase step component layer shape dtype
    """.split()
SHADES = {"forward": COLORS[0], "loss": COLORS[1], "backward": COLORS[2]}
SHADES |= {"optimizer": COLORS[4]}
OTHER = "#999999"  # other phases
Times = NDArray[np.float64]
Phase = tuple[str, float, float]  # name, begin and end


@dataclass(frozen=True)
class Timeline:
    name: str
    events: list[dict[str, str]]
    times_us: Times
    live_bytes: Times
    steps: NDArray[np.int_]  # 0 until the first forward pass

    @property
    def peak(self) -> int:
        """The index of the event with the most live bytes."""
        return int(self.live_bytes.argmax())

    @property
    def phases(self) -> list[Phase]:
        """The phases; each ends at the first event of the next."""
        phase = np.array([event["phase"] for event in self.events])
        changes = np.flatnonzero(np.append([True], phase[1:] != phase[:-1]))
        begins = self.times_us[changes]
        ends = [*begins[1:], self.times_us[-1]]
        return list(zip(phase[changes].tolist(), begins, ends, strict=True))

    @property
    def begins_us(self) -> list[float]:
        """When the steps after the first begin."""
        begins = np.flatnonzero(np.diff(self.steps) > 0) + 1
        return list(self.times_us[begins[0 if self.steps[0] > 0 else 1 :]])


def decimate(times: Times, values: Times) -> NDArray[np.intp]:
    """Returns the indices of the points to draw, in order.

    Each of BUCKETS equal time spans keeps its first, smallest, largest and last value,
    so no peak is lost, and the line enters and leaves each span correctly.
    """
    if len(times) <= BUCKETS:
        return np.arange(len(times))
    span = (times[-1] - times[0]) or 1.0
    bucket = np.minimum(((times - times[0]) / span * BUCKETS).astype(int), BUCKETS - 1)
    kept: set[int] = set()
    for own in np.split(np.arange(len(times)), np.flatnonzero(np.diff(bucket)) + 1):
        extremes = values[own].argmin(), values[own].argmax()
        kept |= {int(own[0]), int(own[-1]), *(int(own[at]) for at in extremes)}
    return np.array(sorted(kept))


def _name(stem: str) -> str:
    """Returns the name of the case; file names have underscores instead of slashes."""
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
    """Loads a timeline; None if nothing was allocated. Errors: NotAResult, for a file
    that is not a memory trace."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)  # marks surplus and missing cells by None
            events = list(reader)
        if reader.fieldnames != COLUMNS:
            raise ValueError("not a memory trace: its columns are others")
        if any(None in (*event, *event.values()) for event in events):
            raise ValueError("a line has not one cell for each column")
        times, live, steps = (
            np.array([event[key] for event in events], kind)
            for key, kind in (("time_us", float), ("live_bytes", float), ("step", int))
        )
        if not np.isfinite([times, live]).all() or (live < 0).any():
            raise ValueError("a time is not a number, or a size not one of at least 0")
    except (OSError, OverflowError, ValueError, csv.Error) as error:
        raise NotAResult(f"{path}: {error}") from error
    return Timeline(_name(path.stem), events, times, live, steps) if events else None


def _shade(canvas: Canvas, plane: Plane, phases: Sequence[Phase]) -> None:
    """Draws a band for each phase."""
    for name, begin, end in phases:
        (left, top), (right, _) = (plane.place((x, plane.y.high)) for x in (begin, end))
        size, color = (right - left, plane.height), SHADES.get(name, OTHER)
        canvas.box((left, top), size, color, opacity="0.13", name=f"phase-{name}")


def _mark_peak(canvas: Canvas, plane: Plane, timeline: Timeline) -> None:
    at, size = timeline.times_us[timeline.peak], timeline.live_bytes[timeline.peak]
    x, y = plane.place((float(at), float(size)))
    operator = timeline.events[timeline.peak]["operator"]
    canvas.dot(x, y, COLORS[3], name="peak")
    left = x > plane.width / 2  # the side with more room
    shown = ", ".join(filter(None, (f"peak {text.size(size)}", operator)))
    canvas.text(x - 6 if left else x + 6, y - 5, shown, "end" if left else "start")


def _outline(times: Times, live: Times) -> list[Point]:
    """Returns the corners of the area under a step function."""
    x, y = np.repeat(times, 2)[1:].tolist(), np.repeat(live, 2)[:-1].tolist()
    return [(x[0], 0.0), *zip(x, y, strict=True), (x[-1], 0.0)]


def _said(timeline: Timeline, beyond: int) -> str:
    live, peak = timeline.live_bytes, timeline.events[timeline.peak]
    count = timeline.steps.max()
    steps = f" of {count} steps" if count > 1 else ""
    place = f", {peak['component']}" if peak["component"] else ""
    place += f" of layer {peak['layer']}" if place and peak["layer"] else ""
    return (
        f"Live bytes over the {len(live)} allocations and frees{steps} of "
        f"{timeline.name}: from {text.size(live[0])} to a peak of "
        f"{text.size(live.max())} in {peak['phase']}{place}."
        f"{text.not_shown(beyond, 'timeline')}"
    )


def _figure(timeline: Timeline, beyond: int) -> Figure:
    kept = decimate(timeline.times_us, timeline.live_bytes)
    times, live = timeline.times_us[kept], timeline.live_bytes[kept]
    first, last = float(times[0]), float(times[-1])
    plane = Plane(
        Scale(first, last if last > first else first + 1),
        Scale(0, float(live.max()) * 1.25 or 1.0, base=2),
        text.time,
        text.size,
        "time since the call began, while being recorded",
        width=HALF,
    )
    phases = timeline.phases
    legend = {name: SHADES.get(name, OTHER) for name, _, _ in phases}
    canvas = frame(f"Memory over time: {timeline.name}", plane, legend)
    _shade(canvas, plane, phases)
    outline = [plane.place(corner) for corner in _outline(times, live)]
    canvas.line(outline, COLORS[0], width="0.9", fill=f"{COLORS[0]}40")
    for number, begin in enumerate(timeline.begins_us, start=2):
        ends = [plane.place((begin, y)) for y in (0, plane.y.high)]
        canvas.line(ends, "#444444", width="0.8", dash="2 2", name=f"begin-{number}")
    _mark_peak(canvas, plane, timeline)
    return canvas.figure(_said(timeline, beyond))


def timelines(directory: Path) -> list[Figure]:
    """Draws up to MOST memory traces in the directory, train steps first.

    The description of the last figure states the number of further traces. Errors:
    NotAResult, which names a file that is not a memory trace.
    """
    paths = sorted(
        directory.glob("memory_*.csv"),
        key=lambda path: ("train_step" not in path.stem, path.stem),
    )
    loaded = [timeline for timeline in map(load, paths) if timeline is not None]
    shown = loaded[:MOST]
    beyond = len(loaded) - len(shown)
    return [_figure(t, beyond if t is shown[-1] else 0) for t in shown]
