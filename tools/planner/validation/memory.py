# SPDX-License-Identifier: MIT
"""Predicted and measured memory, and why they differ."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from reports.results import text
from reports.results.text import Table
from tools.planner.recipes import TOTALS, FrameworkJob, Memory, memory, recipes
from tools.planner.validation import cells
from tools.planner.validation.cells import Lacking, Lacks
from tools.planner.validation.points import Point

MISS = 0.03
EXACT = 1e-3
UNKNOWN = "unknown"
_KINDS = frozenset({"fused", "unfused"})
# Returns the row of trainbench_plan for a job's flags.
Ask = Callable[[FrameworkJob], Mapping[str, Any]]


@dataclass(frozen=True)
class Judged:
    """A point with the predicted bytes; in JSON it has the same keys."""

    name: str
    gpu: str
    recipe: str
    assumed: str
    predicted: Memory
    measured: dict[str, int]
    ratios: dict[str, float]  # predicted over measured
    cause: str = ""  # of a miss

    def only(self, what: str) -> "Judged":
        """Keeps one kind of bytes, and the cause only if that kind is a miss."""
        measured, ratios = {what: self.measured[what]}, {what: self.ratios[what]}
        one = replace(self, measured=measured, ratios=ratios)
        return one if one.is_miss else replace(one, cause="")

    @property
    def is_miss(self) -> bool:
        return any(abs(ratio - 1) > MISS for ratio in self.ratios.values())


def _with_other_attention(job: FrameworkJob) -> FrameworkJob:
    old, new = ("naive", "own") if "unfused" in job.traits else ("own", "naive")
    return replace(
        job,
        model=job.model.replace(f"attention={old}", f"attention={new}"),
        traits=job.traits ^ _KINDS,
    )


def _compare(point: Point, job: FrameworkJob, ask: Ask) -> Judged:
    row = point.row
    found = memory(job, recipes()[row["recipe"]], ask(job))
    ratios = {
        what: found.bytes_of(what) / bytes_ for what, bytes_ in point.measured.items()
    }
    return Judged(
        name=point.name,
        gpu=row["gpu"],
        recipe=row["recipe"],
        assumed=row["assumed"],
        predicted=found,
        measured=point.measured,
        ratios=ratios,
    )


def judge(point: Point, ask: Ask) -> Judged:
    """Predicts a point. Raises Lacks if the program refuses its job."""
    job = point.job
    judged = _compare(point, job, ask)
    if not judged.is_miss:
        return judged
    if not job.traits & _KINDS:
        return replace(judged, cause=UNKNOWN)
    other = _with_other_attention(job)
    try:
        explains = not _compare(point, other, ask).is_miss
    except Lacks:
        explains = False
    kind = "unfused" if "unfused" in other.traits else "fused"
    cause = f"it has the bytes of {kind} attention" if explains else UNKNOWN
    return replace(judged, cause=cause)


def _errors(judged: Sequence[Judged]) -> dict[str, float]:
    errors = [ratio - 1 for one in judged for ratio in one.ratios.values()]
    return {
        "points": len(errors),
        "mean_absolute_error": sum(map(abs, errors)) / len(errors),
        "mean_error": sum(errors) / len(errors),
        "largest_error": max(map(abs, errors)),
        "exact": sum(abs(error) <= EXACT for error in errors),
    }


def _distinct(judged: Sequence[Judged], what: str) -> list[Judged]:
    """Keeps one of several tests that measured the same bytes of the same job."""
    of = [one.only(what) for one in judged if what in one.measured]
    first = {(one.gpu.lower(), one.measured[what], one.ratios[what]): one for one in of}
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


def as_json(judged: Sequence[Judged], lacking: Sequence[Lacking]) -> str:
    points = [asdict(one) for one in judged]
    return cells.as_json(lacking, summary=summary(judged), points=points)


def table(judged: Sequence[Judged]) -> Table:
    head = ("point", "gpu", "bytes", "predicted", "measured", "ratio", "note")
    return Table(head, list(_lines(judged)))


def _note(one: Judged) -> str:
    assumed = f"assumes {one.assumed}" if one.assumed else ""
    return "; ".join(word for word in (one.cause, assumed) if word)


def _lines(judged: Sequence[Judged]) -> Iterator[list[str]]:
    for one in judged:
        for what, measured in one.measured.items():
            predicted = f"{one.predicted.bytes_of(what):,}"
            yield [
                *(one.name, one.gpu, what, predicted, f"{measured:,}"),
                *(f"{one.ratios[what]:.4f}", _note(one.only(what))),
            ]
        if not one.measured:
            peak = f"{one.predicted.bytes_of('peak'):,}"
            yield [one.name, one.gpu, "peak", peak, "-", "-", _note(one)]


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


def as_text(judged: Sequence[Judged], lacking: Sequence[Lacking]) -> str:
    points = len(judged) + len(lacking)
    expressible = f"{len(judged)} of {points} points are expressible"
    parts = [
        "\n".join(table(judged).columns((0, 1, 2, -1))),
        "\n".join(_sentences(judged)),
        "\n".join([expressible, *cells.counted(lacking, "points").columns((0,))]),
    ]
    return "\n\n".join(parts)
