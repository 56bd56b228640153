# SPDX-License-Identifier: MIT
"""Predicted and measured memory, and why they differ."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from reports.results import text
from reports.results.text import Table
from tools.planner.recipes import TOTALS, Job, Memory, Recipe, memory, recipes
from tools.planner.validation.cells import lacking
from tools.planner.validation.points import Point

MISS = 0.03
EXACT = 1e-3
UNKNOWN = "unknown"
_KINDS = frozenset({"fused", "unfused"})
Json = dict[str, Any]
# Returns the row of trainbench_plan for a job's flags.
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
        """Keeps one kind of bytes, and the cause only if that kind is a miss."""
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
        traits=job.traits ^ _KINDS,
    )


def _judge(point: Point, job: Job, recipe: Recipe, ask: Ask) -> Judged:
    judged = Judged(point, memory(job, recipe, ask(job)), "")
    if not judged.is_miss:
        return judged
    if not job.traits & _KINDS:
        return replace(judged, cause=UNKNOWN)
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


def _distinct(judged: Sequence[Judged], what: str) -> list[Judged]:
    """Keeps one of several tests that measured the same bytes of the same job."""
    of = [one.only(what) for one in judged if what in one.point.measured]
    first = {
        (one.point.gpu, one.point.measured[what], one.ratio(what)): one for one in of
    }
    return list(first.values())


def summary(judged: Sequence[Judged]) -> dict[str, dict[str, float]]:
    """Errors of each kind of bytes, also without the misses of known cause."""
    found = {}
    for what in TOTALS:
        of = _distinct(judged, what)
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
                "assumed": one.point.assumed,
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
    head = ("point", "gpu", "bytes", "predicted", "measured", "ratio", "note")
    return Table(head, list(_lines(judged)))


def _note(one: Judged) -> str:
    assumed = f"assumes {one.point.assumed}" if one.point.assumed else ""
    return "; ".join(word for word in (one.cause, assumed) if word)


def _lines(judged: Sequence[Judged]) -> Iterator[list[str]]:
    for one in judged:
        for what, measured in one.point.measured.items():
            predicted = f"{one.predicted.bytes_of(what):,}"
            yield [
                *(one.point.name, one.point.gpu, what, predicted),
                *(f"{measured:,}", f"{one.ratio(what):.4f}", _note(one.only(what))),
            ]
        if not one.point.measured:
            peak = f"{one.predicted.bytes_of('peak'):,}"
            yield [one.point.name, one.point.gpu, "peak", peak, "-", "-", _note(one)]


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
    lacks = (point.lacks for point in points if not point.job)
    expressible = f"{len(judged)} of {len(points)} points are expressible"
    parts = [
        "\n".join(table(judged).columns((0, 1, 2, -1))),
        "\n".join(_sentences(judged)),
        "\n".join([expressible, *lacking(lacks, "points").columns((0,))]),
    ]
    return "\n\n".join(parts)
