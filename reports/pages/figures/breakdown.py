# SPDX-License-Identifier: MIT
"""Plots of the time of a step by phase and component."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from reports.answers.breakdown import Step, profiled, shown_step
from reports.pages.plotting.bars import Bar, Look, draw_bars
from reports.pages.plotting.canvas import COLORS, WIDE, Figure
from reports.results import text
from reports.results.rows import Result

LOST = "unattributed"
# Attention in blues, in order of its operations; neighbors also differ in brightness,
# for color-blind readers.
COLOR_OF = {
    "embedding": COLORS[6],
    "projections": "#003f66",
    "rope": "#7fb8d8",
    "scores": COLORS[0],
    "softmax": "#b8d9ea",
    "value": "#2f8fc4",
    "output_projection": "#6a7fb5",
    "ffn": COLORS[1],
    "norm": COLORS[2],
    "residual": "#7fd1b9",
    "lm_head": COLORS[3],
    "cross_entropy": COLORS[4],
    "optimizer": "#444444",
    "dispatch": "#e8d8b0",
    "autograd": "#d0b070",
    "gap": "#f0f0f0",
    LOST: "#cccccc",
}
_OTHER = "#7a5c3e"  # for components that are not listed
LEAST_LOST = 5e-5  # fraction of a step; less is a rounding error
MOST_STEPS = 12  # the last steps of a run, which are its largest


def shares_of(step: Step) -> dict[str, dict[str, float]]:
    """Returns by phase the share of each component in the step. All are medians, so
    they need not add up."""
    shares: dict[str, dict[str, float]] = defaultdict(dict)
    places = {name: place for place, name in enumerate(COLOR_OF)}
    keys = sorted(step.parts, key=lambda key: places.get(key[1], len(places)))
    for phase, component in keys:
        shares[phase][component] = step.parts[phase, component]["share"]
    for phase, row in step.phases.items():
        lost = row["share"] * (row.get("unattributed_share") or 0.0)
        if lost > LEAST_LOST:
            shares[phase][LOST] = lost
    return dict(shares)


def _whole(shares: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    keys = dict.fromkeys(key for parts in shares.values() for key in parts)
    return {key: sum(parts.get(key, 0) for parts in shares.values()) for key in keys}


def _draw(title: str, said: str, bars: Sequence[Bar], label: str) -> Figure:
    names = {part for bar in bars for part in bar.parts} - set(COLOR_OF)
    look = Look(
        text.percent,
        inside=lambda share: text.percent(round(share, 2)),
        label=label,
        width=WIDE,
        colors=COLOR_OF | dict.fromkeys(sorted(names), _OTHER),
    )
    return draw_bars(title, said, bars, look)


def breakdown(result: Result) -> list[Figure]:
    """Draws the phases of the step to show, and the components of all steps."""
    whole = {
        step.name: (step.whole.time_us, shares_of(step))
        for step in profiled(result).values()
        if step.whole is not None
    }
    shown = shown_step(result)
    name = shown.name if shown else ""
    if name not in whole:
        return []
    us, phases = whole[name]
    bars = [
        Bar(phase, parts, text.time(sum(parts.values()) * us))
        for phase, parts in phases.items()
    ]
    if not bars:
        return []
    said = ", ".join(f"{b.label} {text.percent(b.length)}" for b in bars)
    label = f"share of the step's {text.time(us)}"
    figures = [_draw(f"Phases: {name}", f"Shares of the step: {said}.", bars, label)]
    if len(whole) > 1:
        last = list(whole.items())[-MOST_STEPS:]
        bars = [Bar(n, _whole(shares), text.time(us)) for n, (us, shares) in last]
        said = f"The components of {len(bars)} of {len(whole)} steps."
        figures.append(_draw("Components of steps", said, bars, "share of the step"))
    return figures
