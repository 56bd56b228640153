# SPDX-License-Identifier: MIT
"""The ranges, layers, copies and fills of a profiled step."""

import re
from collections.abc import Sequence
from statistics import median

from reports.results import text
from reports.results.profiles import Profile, Range, Times
from reports.results.text import Table

# In the order in which a step runs them.
_PHASES = ("step", "forward", "loss", "backward", "optimizer")
_LAYER = re.compile(r"layer_(\d+)")
_STATISTICS = ["total", "median", "min", "max", "std"]


def statistics_of(times: Times | None) -> list[str]:
    """Formats mean, median, minimum, maximum and standard deviation."""
    if times is None:
        return []
    values = (times.mean, times.median, times.min, times.max, times.stddev)
    return [text.time(us) for us in values]


def _own(span: Range) -> Times | None:
    """Returns the device's time on a GPU, or else the host's."""
    return span.device_us or span.host_us


def _place(phase: str) -> int:
    return _PHASES.index(phase) if phase in _PHASES else len(_PHASES)


def ranges_table(profile: Profile, step: str) -> Table | None:
    """Makes the table of phases, components and sublayers, without the layers."""
    spans = [span for span in profile.ranges if not _LAYER.fullmatch(span.range)]
    if not spans:
        return None

    def order(span: Range) -> tuple[int, bool, float]:
        own = _own(span)
        return _place(span.phase), span.range != "all", -own.mean if own else 0

    spans = sorted(spans, key=order)
    is_timed, of_device = spans[0].host_us is not None, spans[0].device_us is not None
    of_instance = any(span.instance_us for span in spans)
    headings = ["range", "phase", "instances"]
    if is_timed:
        headings += ["total", *(["mean"] if of_instance else []), *_STATISTICS[1:]]
    if of_device:
        headings.append("host total")
    lines = []
    for span in spans:
        name = "the whole" if span.range == "all" else span.range
        line = [name, span.phase, str(span.instances or "-")]
        if own := _own(span):
            line.append(text.time(own.mean))
            if of_instance:
                line += statistics_of(span.instance_us) or ["-"] * len(_STATISTICS)
            else:
                line += statistics_of(own)[1:]
        if of_device and span.host_us:
            line.append(text.time(span.host_us.mean))
        lines.append(line)
    title = f"The ranges of {step}, per step"
    if is_timed:
        title += f", over {profile.passes} passes"
    if of_instance:
        title += "; all but the total are of an instance"
    return Table(headings, lines, title=title)


def layers_table(profile: Profile, step: str) -> Table | None:
    """Makes the table of the layers in each phase, with ratios to the median layer."""
    phases: dict[str, dict[int, Times]] = {}
    for span in sorted(profile.ranges, key=lambda span: _place(span.phase)):
        number, own = _LAYER.fullmatch(span.range), _own(span)
        if number is not None and own is not None:
            phases.setdefault(span.phase, {})[int(number[1])] = own
    lines = []
    for phase, layers in phases.items():
        middle = median(times.median for times in layers.values())
        for layer, times in sorted(layers.items()):
            over = text.significant(times.median / middle) if middle else "-"
            lines.append([str(layer), phase, *statistics_of(times), over])
    headings = ["layer", "phase", *_STATISTICS, "of median layer"]
    title = f"The layers of {step}, per step"
    return Table(headings, lines, title) if lines else None


def copies_table(profile: Profile, step: str) -> Table | None:
    """Makes the table of copies and fills with bytes and rates, most bytes first."""
    if not profile.copies:
        return None
    headings = ["component", "phase", "direction", "by", "count", "bytes"]
    is_timed = any(copy.time_us is not None for copy in profile.copies)
    headings += ["time", "rate"] if is_timed else []
    lines: list[Sequence[str]] = []
    for copy in sorted(profile.copies, key=lambda copy: (-copy.bytes, -copy.count)):
        cells = [copy.component, copy.phase, copy.direction, copy.name]
        cells += [str(copy.count), text.size(copy.bytes)]
        if is_timed:
            us, rate = copy.time_us, copy.bytes_per_second
            cells.append("-" if us is None else text.time(us))
            cells.append("-" if rate is None else text.rate(rate, "B/s"))
        lines.append(cells)
    return Table(headings, lines, title=f"The copies and fills of {step}, per step")
