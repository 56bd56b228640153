# SPDX-License-Identifier: MIT
"""Predicted and measured memory, and why they differ."""

from collections.abc import Mapping
from dataclasses import asdict, replace

from tools.planner.recipes import FrameworkJob, Plan, memory, recipes
from tools.planner.validation.cells import Lacks
from tools.planner.validation.judged import UNKNOWN, Judged
from tools.planner.validation.points import Point

MISS = 0.03
EXACT = 1e-3  # small tensors that no row of a recipe counts
_KINDS = frozenset({"fused", "unfused"})


def _with_other_attention(job: FrameworkJob) -> FrameworkJob:
    old, new = ("naive", "own") if "unfused" in job.traits else ("own", "naive")
    return replace(
        job,
        model=job.model.replace(f"attention={old}", f"attention={new}"),
        traits=job.traits ^ _KINDS,
    )


def _is_miss(one: Judged) -> bool:
    return one.ratio is not None and abs(one.ratio - 1) > MISS


def _compare(point: Point, job: FrameworkJob, plan: Plan) -> list[Judged]:
    """Judges each kind of bytes that is measured; otherwise has the predicted peak."""
    row = point.row
    found = memory(job, recipes()[row["recipe"]], plan(job))
    measured: Mapping[str, int | None] = point.measured or {"peak": None}
    return [
        Judged(
            name=point.name,
            on=row["gpu"],
            what=what,
            predicted=found.bytes_of(what),
            low=found.bytes_of(what) / (1 + EXACT),
            high=found.bytes_of(what) / (1 - EXACT),
            measured=bytes_,
            cause="",
            assumed=f"assumes {row['assumed']}" if row["assumed"] else "",
            groups=(what,),
            details={"recipe": row["recipe"], "items": asdict(found)},
        )
        for what, bytes_ in measured.items()
    ]


def _cause(point: Point, plan: Plan) -> str:
    if not point.job.traits & _KINDS:
        return UNKNOWN
    other = _with_other_attention(point.job)
    try:
        explains = not any(map(_is_miss, _compare(point, other, plan)))
    except Lacks:
        explains = False
    kind = "unfused" if "unfused" in other.traits else "fused"
    return f"it has the bytes of {kind} attention" if explains else UNKNOWN


def judge(point: Point, plan: Plan) -> list[Judged]:
    """Predicts a point. Raises Lacks if the program refuses its job."""
    judged = _compare(point, point.job, plan)
    if not any(map(_is_miss, judged)):
        return judged
    cause = _cause(point, plan)
    return [replace(one, cause=cause if _is_miss(one) else "") for one in judged]
