# SPDX-License-Identifier: MIT
"""Plots of the time of a step by phase and component."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from reports.pages.plotting.bars import Bar, Look, draw_bars
from reports.pages.plotting.canvas import WIDE, Figure
from reports.pages.plotting.palette import COLOURS
from reports.results import text
from reports.results.rows import Result, Row

LOST = "unattributed"
# Attention in blues, in the order of its operations; neighbours differ in brightness
# too, for readers who cannot distinguish colours.
COLOUR_OF = {
    "embedding": COLOURS[6],
    "projections": "#003f66",
    "rope": "#7fb8d8",
    "scores": "#0072B2",
    "softmax": "#b8d9ea",
    "value": "#2f8fc4",
    "output_projection": "#6a7fb5",
    "ffn": COLOURS[1],
    "norm": COLOURS[2],
    "residual": "#7fd1b9",
    "lm_head": COLOURS[3],
    "cross_entropy": COLOURS[4],
    "optimizer": "#444444",
    "dispatch": "#e8d8b0",
    "autograd": "#d0b070",
    "gap": "#f0f0f0",
    LOST: "#cccccc",
}
_OTHER = "#7a5c3e"  # for components that are not listed
NOT_PARTS = ("all", "block", "recompute", "timed", LOST)
LEAST_LOST = 5e-5  # of a step; less is a rounding error
MOST_PASSES = 8  # side by side


@dataclass(frozen=True)
class Pass:
    """One profiled step."""

    model: str
    precision: str
    mode: str
    batch: int
    seq: int
    # By phase, the share of each component in the step. "no phase" counts as a phase.
    phases: dict[str, dict[str, float]]
    whole_us: float

    def components(self) -> dict[str, float]:
        """The shares of the components in the whole step."""
        sums: dict[str, float] = defaultdict(float)
        for shares in self.phases.values():
            for component, share in shares.items():
                sums[component] += share
        return {name: sums[name] for name in _ordered(sums)}


def _ordered(components: Iterable[str]) -> list[str]:
    known = list(COLOUR_OF)
    return sorted(
        components,
        key=lambda name: known.index(name) if name in COLOUR_OF else len(known) - 1.5,
    )


def _phases(rows: list[Row]) -> tuple[dict[str, dict[str, float]], float]:
    """The shares by phase and component, and the time of the step in us."""
    phases: dict[str, dict[str, float]] = defaultdict(dict)
    sums: dict[str, float] = {}
    whole_us = 0.0
    for row in rows:
        phase, component = row.words["phase"], row.words["component"]
        if component == "all" and phase == "step":
            whole_us = row.time_us
        elif component == "all":
            sums[phase] = row["share"]
        elif component not in NOT_PARTS:
            phases[phase][component] = row["share"]
    for phase, whole in sums.items():
        lost = whole - sum(phases[phase].values())
        if lost > LEAST_LOST:
            phases[phase][LOST] = lost
    outside = 1 - sum(sum(shares.values()) for shares in phases.values())
    if outside > LEAST_LOST:
        phases["no phase"] = {LOST: outside}
    return (
        {
            phase: {name: shares[name] for name in _ordered(shares)}
            for phase, shares in phases.items()
        },
        whole_us,
    )


def passes(result: Result) -> list[Pass]:
    """The profiled steps in the order of the run; its last model is the largest."""
    found: dict[tuple[str, str, str, int, int], list[Row]] = defaultdict(list)
    for row in result.of("breakdown"):
        words = (row.words["model"], row.words["precision"], row.words["mode"])
        found[*words, int(row["batch"]), int(row["seq"])].append(row)
    steps = [Pass(*key, *_phases(rows)) for key, rows in found.items()]
    return [step for step in steps if step.phases and step.whole_us]


def _draw(title: str, description: str, bars: list[Bar], label: str) -> Figure:
    names = sorted({part for bar in bars for part in bar.parts} - set(COLOUR_OF))
    look = Look(
        text.percent,
        inside=lambda share: text.percent(round(share, 2)),
        label=label,
        width=WIDE,
        colours=COLOUR_OF | dict.fromkeys(names, _OTHER),
    )
    return draw_bars(title, description, bars, look)


def _by_phase(step: Pass) -> Figure:
    bars = [
        Bar(phase, shares, text.time(sum(shares.values()) * step.whole_us))
        for phase, shares in step.phases.items()
    ]
    phases = ", ".join(
        f"{bar.label} {text.percent(sum(bar.parts.values()))}" for bar in bars
    )
    name = f"{step.model} {step.precision} {step.mode}, {step.batch} x {step.seq}"
    label = f"share of the step's {text.time(step.whole_us)}"
    return _draw(f"Phases: {name}", f"Shares of the step: {phases}.", bars, label)


def _chosen(steps: list[Pass]) -> list[Pass]:
    """The steps to draw: all of a few, otherwise mostly those of the last model."""
    if len(steps) <= MOST_PASSES:
        return steps
    longest = {step.model: step for step in steps}
    largest = longest.pop(steps[-1].model)
    others = list(longest.values())[-MOST_PASSES // 2 :]
    own = [step for step in steps if step.model == largest.model]
    return others + own[-(MOST_PASSES - len(others)) :]


def _by_pass(precision: str, mode: str, steps: list[Pass]) -> Figure:
    members = _chosen(steps)
    bars = [
        Bar(
            f"{step.batch} x {step.seq}",
            step.components(),
            text.time(step.whole_us),
            group=step.model,
        )
        for step in members
    ]
    largest = [max(bar.parts, key=lambda part: bar.parts[part]) for bar in bars]
    parts = ", ".join(
        f"{bar.group} {bar.label} {part} {text.percent(bar.parts[part])}"
        for bar, part in zip(bars, largest, strict=True)
    )
    title = f"Components: {precision} {mode}"
    description = (
        f"{len(bars)} of {len(steps)} steps, and their largest parts: {parts}."
    )
    return _draw(title, description, bars, "share of the step")


def breakdown(result: Result) -> list[Figure]:
    """For each precision: the phases of the largest model's step, and the components
    of the steps of several models and contexts."""
    precisions: dict[str, list[Pass]] = defaultdict(list)
    for step in passes(result):
        precisions[step.precision].append(step)
    figures = []
    for precision, members in precisions.items():
        steps = [step for step in members if step.mode == "train_step"]
        # Without train steps, draw the last mode of the run.
        steps = steps or [step for step in members if step.mode == members[-1].mode]
        figures.append(_by_phase(steps[-1]))
        if len(steps) > 1:
            figures.append(_by_pass(precision, steps[-1].mode, steps))
    return figures
