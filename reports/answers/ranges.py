# SPDX-License-Identifier: MIT
"""The ranges, layers, copies and fills of a profiled step."""

import re
from collections.abc import Sequence
from statistics import median

from reports.results import text
from reports.results.profiles import Profile, Range, Times
from reports.results.text import Table

MOST = 20  # kinds of copies in a table
# In the order of a step.
_PHASES = ("step", "forward", "loss", "backward", "optimizer")
_LAYER = re.compile(r"layer_(\d+)")
_STATISTICS = ["total", "median", "min", "max", "std"]


def _statistics(times: Times | None) -> list[str]:
    """Of the totals of the passes."""
    if times is None:
        return []
    values = (times.mean, times.median, times.least, times.most, times.stddev)
    return [text.time(us) for us in values]


def _each(span: Range) -> str:
    """The mean of an instance."""
    own = _own(span)
    return text.time(own.mean / span.instances) if own and span.instances else "-"


def _own(span: Range) -> Times | None:
    """On a GPU the time of the device."""
    return span.device or span.host


def _place(phase: str) -> int:
    return _PHASES.index(phase) if phase in _PHASES else len(_PHASES)


def _phase_text(span: Range) -> str:
    return "the whole" if span.name == "all" else span.name


def ranges_table(profile: Profile, step: str) -> Table | None:
    """Phases, components and sublayers; the layers are apart."""
    spans = [span for span in profile.ranges if not _LAYER.fullmatch(span.name)]
    if not spans:
        return None

    def order(span: Range) -> tuple[int, bool, float]:
        own = _own(span)
        return _place(span.phase), span.name != "all", -own.mean if own else 0

    spans = sorted(spans, key=order)
    headings = ["range", "phase", "instances", "each"]
    is_timed, of_device = spans[0].host is not None, spans[0].device is not None
    if of_device:
        headings += [*(f"device {name}" for name in _STATISTICS)]
    if is_timed:
        headings += [f"host {name}" for name in _STATISTICS]
    lines = [
        [
            _phase_text(span),
            span.phase,
            str(span.instances or "-"),
            _each(span),
            *_statistics(span.device),
            *_statistics(span.host),
        ]
        for span in spans
    ]
    title = f"The ranges of {step}, per step"
    if is_timed:
        title += f", over {profile.passes} passes"
    return Table(headings, lines, title=title)


def _layers(profile: Profile) -> dict[str, dict[int, Times]]:
    """By phase and number."""
    found: dict[str, dict[int, Times]] = {}
    for span in profile.ranges:
        number, own = _LAYER.fullmatch(span.name), _own(span)
        if number is not None and own is not None:
            found.setdefault(span.phase, {})[int(number[1])] = own
    return dict(sorted(found.items(), key=lambda item: _place(item[0])))


def layers_table(profile: Profile, step: str) -> Table | None:
    """Each layer in each phase, and over the median layer."""
    phases = _layers(profile)
    if not phases:
        return None
    headings = ["layer"]
    for phase in phases:
        headings += [f"{phase} {name}" for name in (*_STATISTICS, "of median layer")]
    middle = {
        phase: median(times.median for times in layers.values())
        for phase, layers in phases.items()
    }

    def cells(phase: str, number: int) -> list[str]:
        times = phases[phase].get(number)
        if times is None:
            return ["-"] * (len(_STATISTICS) + 1)
        over = times.median / middle[phase] if middle[phase] else None
        return [*_statistics(times), "-" if over is None else text.significant(over)]

    numbers = sorted({number for layers in phases.values() for number in layers})
    lines = [
        [str(number), *(cell for phase in phases for cell in cells(phase, number))]
        for number in numbers
    ]
    return Table(headings, lines, title=f"The layers of {step}, per step")


def copies_table(profile: Profile, step: str) -> Table | None:
    """Who copies and fills, how much and how fast; most bytes first."""
    if not profile.copies:
        return None
    copies = sorted(profile.copies, key=lambda one: (-one.bytes, -one.count))
    is_timed = any(one.time_us is not None for one in copies)
    headings = ["component", "phase", "direction", "by", "count", "bytes"]
    lines: list[Sequence[str]] = []
    for one in copies[:MOST]:
        cells = [one.component, one.phase, one.direction, one.name]
        cells += [str(one.count), text.size(one.bytes)]
        if is_timed:
            cells.append("-" if one.time_us is None else text.time(one.time_us))
            rate = one.bytes_per_second
            cells.append("-" if rate is None else text.rate(rate, "B/s"))
        lines.append(cells)
    if rest := copies[MOST:]:
        others = [
            text.plural(len(rest), "other"),
            "",
            "",
            "",
            str(sum(c.count for c in rest)),
        ]
        others.append(text.size(sum(c.bytes for c in rest)))
        if is_timed:
            others += [text.time(sum(c.time_us or 0 for c in rest)), ""]
        lines.append(others)
    headings += ["time", "rate"] if is_timed else []
    return Table(headings, lines, title=f"The copies and fills of {step}, per step")
