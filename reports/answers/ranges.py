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
_STATISTICS = ["mean", "median", "min", "max", "std"]


def statistics_of(times: Times | None) -> list[str]:
    """Formats mean, median, minimum, maximum and standard deviation."""
    if times is None:
        return ["-"] * len(_STATISTICS)
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

    lines = []
    for span in sorted(spans, key=order):
        own, host = _own(span), span.host_us if span.device_us else None
        lines.append(
            [
                "the whole" if span.range == "all" else span.range,
                *(span.phase, str(span.instances or "-")),
                *(statistics_of(own)[0], *statistics_of(span.instance_us or own)),
                statistics_of(host)[0],
            ]
        )
    headings = ["range", "phase", "instances", "total", *_STATISTICS, "host total"]
    title = f"The ranges of {step}, per step"
    if any(map(_own, spans)):
        title += f", over {profile.passes} passes of one process"
    if any(span.instance_us for span in spans):
        title += "; all but the total are of an instance"
    return Table(headings, lines, title).compact()


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
    headings = ["layer", "phase", "total", *_STATISTICS[1:], "of median layer"]
    title = f"The layers of {step}, per step"
    return Table(headings, lines, title) if lines else None


def copies_table(profile: Profile, step: str) -> Table | None:
    """Makes the table of copies and fills with bytes and rates, most bytes first."""
    if not profile.copies:
        return None
    headings = ["component", "phase", "direction", "by", "count", "bytes"]
    headings += ["time", "rate"]
    lines: list[Sequence[str]] = []
    for copy in sorted(profile.copies, key=lambda copy: (-copy.bytes, -copy.count)):
        us, rate = copy.time_us, copy.bytes_per_second
        cells = [copy.component, copy.phase, copy.direction, copy.name]
        cells += [str(copy.count), text.size(copy.bytes)]
        cells.append("-" if us is None else text.time(us))
        cells.append("-" if rate is None else text.rate(rate, "B/s"))
        lines.append(cells)
    title = f"The copies and fills of {step}, per step"
    return Table(headings, lines, title).compact()
