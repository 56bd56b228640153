# SPDX-License-Identifier: MIT
"""Where the time of a step goes: its phases, divided into components."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from matplotlib.axes import Axes

from reports.pages.plotting.bars import Bar, Look, Scale, below, inches, stacked
from reports.pages.plotting.figure import COLOURS, Figure, draw
from reports.results import text
from reports.results.rows import Result, Row

LOST = "unattributed"
# Attention in blues, by what follows what; light and dark so that neighbours
# can be told apart without colours.
LOOKS = {
    "embedding": Look(COLOURS[6]),
    "projections": Look("#003f66"),
    "rope": Look("#7fb8d8"),
    "scores": Look("#0072B2"),
    "softmax": Look("#b8d9ea"),
    "value": Look("#2f8fc4"),
    "output_projection": Look("#6a7fb5"),
    "ffn": Look(COLOURS[1]),
    "norm": Look(COLOURS[2]),
    "residual": Look("#7fd1b9"),
    "lm_head": Look(COLOURS[3]),
    "cross_entropy": Look(COLOURS[4]),
    "optimizer": Look("#444444"),
    LOST: Look("#cccccc"),
}
OTHER = Look("#7a5c3e")  # a component that is not listed
NOT_PARTS = ("all", "block", LOST)
LEAST_LOST = 5e-5  # of a step: less is the rounding of a sum
COLUMNS = 5  # of the legend
MOST_PASSES = 8  # side by side


@dataclass(frozen=True)
class Pass:
    """One step that was taken apart."""

    model: str
    precision: str
    mode: str
    batch: int
    seq: int
    # By phase the share of the step that each component takes. "no phase" is one.
    phases: dict[str, dict[str, float]]
    whole_us: float

    def components(self) -> dict[str, float]:
        """Of the whole step."""
        sums: dict[str, float] = defaultdict(float)
        for shares in self.phases.values():
            for component, share in shares.items():
                sums[component] += share
        return {name: sums[name] for name in _ordered(sums)}


def _ordered(components: Iterable[str]) -> list[str]:
    known = list(LOOKS)
    return sorted(
        components,
        key=lambda name: known.index(name) if name in LOOKS else len(known) - 1.5,
    )


def _phases(rows: list[Row]) -> tuple[dict[str, dict[str, float]], float]:
    """The shares by phase and component, and the time of the whole in us."""
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
    """In the order of the run, in which the last model is the largest."""
    found: dict[tuple[str, str, str, int, int], list[Row]] = defaultdict(list)
    for row in result.of("breakdown"):
        words = (row.words["model"], row.words["precision"], row.words["mode"])
        found[*words, int(row["batch"]), int(row["seq"])].append(row)
    told = [Pass(*key, *_phases(rows)) for key, rows in found.items()]
    return [one for one in told if one.phases and one.whole_us]


def _draw(title: str, description: str, bars: list[Bar], what: str) -> Figure:
    names = {part for bar in bars for part in bar.parts}
    looks = {name: LOOKS.get(name, OTHER) for name in [*LOOKS, *sorted(names)]}

    def paint(axes: Axes) -> None:
        scale = Scale(text.percent, inside=lambda share: text.percent(round(share, 2)))
        stacked(axes, bars, looks, scale)
        axes.set_xlabel(what)
        below(axes, COLUMNS, list(looks))

    size = (7.2, inches(bars, len(names), COLUMNS) + 0.3)
    return draw(title, description, paint, size)


def _by_phase(one: Pass) -> Figure:
    bars = [
        Bar(phase, shares, text.time(sum(shares.values()) * one.whole_us))
        for phase, shares in one.phases.items()
    ]
    told = ", ".join(
        f"{bar.label} {text.percent(sum(bar.parts.values()))}" for bar in bars
    )
    name = f"{one.model} {one.precision} {one.mode}, {one.batch} x {one.seq}"
    what = f"share of the step's {text.time(one.whole_us)}"
    return _draw(f"Phases: {name}", f"Shares of the step: {told}.", bars, what)


def _chosen(steps: list[Pass]) -> list[Pass]:
    """All of a few; of many the longest of each model, and more of the last one."""
    if len(steps) <= MOST_PASSES:
        return steps
    longest = {one.model: one for one in steps}
    largest = longest.pop(steps[-1].model)
    others = list(longest.values())[-MOST_PASSES // 2 :]
    own = [one for one in steps if one.model == largest.model]
    return others + own[-(MOST_PASSES - len(others)) :]


def _by_pass(precision: str, mode: str, steps: list[Pass]) -> Figure:
    members = _chosen(steps)
    bars = [
        Bar(
            f"{one.batch} x {one.seq}",
            one.components(),
            text.time(one.whole_us),
            group=one.model,
        )
        for one in members
    ]
    largest = [max(bar.parts, key=lambda part: bar.parts[part]) for bar in bars]
    told = ", ".join(
        f"{bar.group} {bar.label} {part} {text.percent(bar.parts[part])}"
        for bar, part in zip(bars, largest, strict=True)
    )
    title = f"Components: {precision} {mode}"
    description = f"{len(bars)} of {len(steps)} steps, and their largest parts: {told}."
    return _draw(title, description, bars, "share of the step")


def breakdown(result: Result) -> list[Figure]:
    """Of each precision the largest model's step by phases, and the steps of
    several models and contexts side by side."""
    precisions: dict[str, list[Pass]] = defaultdict(list)
    for one in passes(result):
        precisions[one.precision].append(one)
    figures = []
    for precision, members in precisions.items():
        steps = [one for one in members if one.mode == "train_step"]
        # Without train steps the run's last mode stands for them.
        steps = steps or [one for one in members if one.mode == members[-1].mode]
        figures.append(_by_phase(steps[-1]))
        if len(steps) > 1:
            figures.append(_by_pass(precision, steps[-1].mode, steps))
    return figures
