# SPDX-License-Identifier: MIT
"""Predicted and measured memory, and why they differ."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from reports.results import text
from reports.results.text import Table
from tools.planner.recipes import Item, Job, Memory, memory, recipes
from tools.planner.validation.points import Point

MISS = 0.03
EXACT = 1e-3
UNKNOWN = "unknown"
Json = dict[str, Any]
# The row of the program, trainbench_plan, for a job's flags.
Ask = Callable[[Job], Mapping[str, Any]]


@dataclass(frozen=True)
class Judged:
    point: Point
    predicted: Memory
    cause: str  # of a miss

    def ratio(self, what: str) -> float:
        return self.predicted.bytes_of(what) / self.point.measured[what]

    def ratios(self) -> dict[str, float]:
        return {what: self.ratio(what) for what in self.point.measured}

    def only(self, what: str) -> "Judged":
        """Of this, with the cause if it is a miss."""
        measured = {what: self.point.measured[what]}
        one = replace(self, point=replace(self.point, measured=measured))
        return one if one.is_miss else replace(one, cause="")

    @property
    def is_miss(self) -> bool:
        return any(abs(ratio - 1) > MISS for ratio in self.ratios().values())


def _with_other_attention(job: Job) -> Job:
    old, new = ("naive", "own") if "unfused" in job.traits else ("own", "naive")
    return replace(
        job,
        model=job.model.replace(f"attention={old}", f"attention={new}"),
        traits=job.traits ^ {"fused", "unfused"},
    )


def _judge(point: Point, job: Job, recipe: Sequence[Item], ask: Ask) -> Judged:
    judged = Judged(point, memory(job, recipe, ask(job)), "")
    if not judged.is_miss:
        return judged
    other = _with_other_attention(job)
    kind = "unfused" if "unfused" in other.traits else "fused"
    if Judged(point, memory(other, recipe, ask(other)), "").is_miss:
        return replace(judged, cause=UNKNOWN)
    return replace(judged, cause=f"it has the bytes of {kind} attention")


def judge(points: Sequence[Point], ask: Ask) -> list[Judged]:
    known = recipes()
    return [
        _judge(point, point.job, known[point.recipe], ask)
        for point in points
        if point.job
    ]


def _errors(judged: Sequence[Judged]) -> dict[str, float]:
    errors = [ratio - 1 for one in judged for ratio in one.ratios().values()]
    return {
        "points": len(errors),
        "mean_absolute_error": sum(map(abs, errors)) / len(errors),
        "mean_error": sum(errors) / len(errors),
        "largest_error": max(map(abs, errors)),
        "exact": sum(abs(error) <= EXACT for error in errors),
    }


def summary(judged: Sequence[Judged]) -> dict[str, dict[str, float]]:
    """Of static bytes and of peaks, and of the peaks without a miss of known cause."""
    found = {}
    for what in ("static", "peak"):
        of = [one.only(what) for one in judged if what in one.point.measured]
        if not of:
            continue
        found[what] = _errors(of)
        unexplained = [one for one in of if one.cause in ("", UNKNOWN)]
        if unexplained and len(unexplained) < len(of):
            found[f"{what} without known causes"] = _errors(unexplained)
    return found


def as_json(points: Sequence[Point], judged: Sequence[Judged]) -> str:
    document = {
        "summary": summary(judged),
        "points": [
            {
                "name": one.point.name,
                "gpu": one.point.gpu,
                "recipe": one.point.recipe,
                "predicted": asdict(one.predicted),
                "measured": one.point.measured,
                "ratios": one.ratios(),
                "cause": one.cause,
            }
            for one in judged
        ],
        "lacking": [
            {"name": point.name, "lacks": point.lacks}
            for point in points
            if not point.job
        ],
    }
    return json.dumps(document, indent=2)


def table(judged: Sequence[Judged]) -> Table:
    head = ("point", "gpu", "bytes", "predicted", "measured", "ratio")
    return Table((*head, "cause of a miss"), list(_lines(judged)))


def _lines(judged: Sequence[Judged]) -> Iterator[list[str]]:
    for one in judged:
        for what, measured in one.point.measured.items():
            predicted = one.predicted.bytes_of(what)
            ratio = one.ratio(what)
            yield [
                *(one.point.name, one.point.gpu, what),
                *(f"{predicted:,}", f"{measured:,}", f"{ratio:.4f}"),
                one.only(what).cause,
            ]


def _sentences(judged: Sequence[Judged]) -> Iterator[str]:
    for what, one in summary(judged).items():
        mean, largest, absolute = (
            text.percent(one[key])
            for key in ("mean_error", "largest_error", "mean_absolute_error")
        )
        yield (
            f"{what}: mean absolute error {absolute}, mean {mean}, largest {largest}; "
            f"{one['exact']} of {one['points']} within {text.percent(EXACT)}"
        )


def as_text(points: Sequence[Point], judged: Sequence[Judged]) -> str:
    lacking = Counter(point.lacks for point in points if not point.job)
    lines = [["lacks", "points"], *([key, str(n)] for key, n in lacking.most_common())]
    parts = [
        "\n".join(table(judged).columns((0, 1, 2, -1))),
        "\n".join(_sentences(judged)),
        "\n".join(["not expressible", *text.columns(lines, (0,))]),
    ]
    return "\n\n".join(parts)
