# SPDX-License-Identifier: MIT
"""Predictions judged by measurements: how far off they are, as tables and JSON."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean, median
from typing import Any

from reports.results import text
from reports.results.text import Table

UNKNOWN = "unknown"
Errors = dict[str, float]


@dataclass(frozen=True)
class Judged:
    """A prediction: bytes of a kind, or microseconds if `what` is "time"."""

    name: str
    on: str  # a GPU
    what: str
    predicted: float
    low: float  # what may be measured if the prediction is right
    high: float
    measured: float | None
    cause: str  # of a miss, or UNKNOWN; empty for a hit
    assumed: str
    groups: Sequence[str]  # that have a line in the summary
    details: Mapping[str, Any]  # only for JSON
    flops: float = 0  # per GPU, if it is a time

    @property
    def ratio(self) -> float | None:
        return self.predicted / self.measured if self.measured else None

    @property
    def is_within(self) -> bool:
        return self.measured is not None and self.low <= self.measured <= self.high

    def line(self) -> list[str]:
        exact: Callable[[float], str] = "{:,.0f}".format
        rounded: Callable[[float], str] = partial(text.size, digits=4)
        if self.what == "time":
            exact = rounded = text.time
        return [
            *(self.name, self.on, self.what),
            *(exact(self.measured) if self.measured else "-", exact(self.predicted)),
            f"{rounded(self.low)} to {rounded(self.high)}",
            f"{self.ratio:.4f}" if self.ratio else "-",
            "; ".join(filter(None, (self.cause, self.assumed))),
        ]


def _one_utilization(judged: Sequence[Judged]) -> Errors:
    """The mean absolute error of a baseline that is fitted to these very steps: a
    device reaches the same share of its peak in all of them."""
    rates: dict[str, list[float]] = defaultdict(list)
    steps = [(one.on, one.flops / one.measured) for one in judged if one.measured]
    for on, rate in steps:
        rates[on].append(rate)
    if not all(rate for _, rate in steps):  # bytes
        return {}
    errors = (abs(rate / median(rates[on]) - 1) for on, rate in steps)
    return {"by_one_utilization": fmean(errors)}


def _errors(judged: Sequence[Judged]) -> Errors:
    errors = [one.ratio - 1 for one in judged if one.ratio]
    return {
        "points": len(errors),
        "mean_absolute_error": fmean(map(abs, errors)),
        "median_absolute_error": median(map(abs, errors)),
        "mean_error": fmean(errors),
        "largest_error": max(map(abs, errors)),
        "within_interval": fmean(one.is_within for one in judged),
        **_one_utilization(judged),
    }


@dataclass(frozen=True)
class Lacking:
    """A point that no job of the program can express."""

    name: str
    lacks: str


@dataclass(frozen=True)
class Comparison:
    """Judged predictions, and the points without one."""

    judged: list[Judged]
    lacking: list[Lacking]
    points: int  # with predictions

    def distinct(self) -> list[Judged]:
        """Keeps the first of several rows with the same measurement of the same job."""
        measured = (one for one in self.judged if one.ratio)
        found: dict[tuple[Any, ...], Judged] = {}
        for one in measured:
            key = (one.on.lower(), one.what, one.measured, one.ratio)
            found.setdefault(key, one)
        return list(found.values())

    def summary(self) -> dict[str, Errors]:
        """Errors by group, also without the misses of known cause."""
        groups: dict[str, list[Judged]] = defaultdict(list)
        for one in self.distinct():
            for group in one.groups:
                groups[group].append(one)
        found = {}
        for group, every in groups.items():
            found[group] = _errors(every)
            others = [one for one in every if one.cause in ("", UNKNOWN)]
            if 0 < len(others) < len(every):
                found[f"{group} without known causes"] = _errors(others)
        return found

    def table(self) -> Table:
        head = ("point", "gpu", "what", "measured", "predicted", "interval", "ratio")
        return Table((*head, "note"), [one.line() for one in self.judged])

    def summary_table(self) -> Table:
        """The last column is the mean absolute error of one utilization per device."""
        head = (
            *("points of", "number", "absolute error", "median", "mean error"),
            *("largest", "in interval", "one utilization"),
        )
        lines = []
        for group, one in self.summary().items():
            points, *shares = one.values()
            cells = [group, f"{points:.0f}", *map(text.percent, shares), "-"]
            lines.append(cells[: len(head)])
        return Table(head, lines)

    def reasons(self) -> list[list[str]]:
        """What lacking points lack, and how many of them."""
        counts = Counter(each.lacks for each in self.lacking).most_common()
        return [[word, str(count)] for word, count in counts]

    def as_text(self) -> str:
        lines = self.reasons()
        of = self.points + len(self.lacking)
        parts = [
            self.table().columns((0, 1, 2, -1)),
            self.summary_table().columns((0,)),
            [
                f"{self.points} of {of} points are expressible",
                *(Table(("lacks", "points"), lines).columns((0,)) if lines else ()),
            ],
        ]
        return "\n\n".join("\n".join(part) for part in parts)

    def as_json(self) -> str:
        points = [asdict(one) | {"ratio": one.ratio} for one in self.judged]
        lacking = [asdict(each) for each in self.lacking]
        document = {"summary": self.summary(), "points": points, "lacking": lacking}
        return json.dumps(document, indent=2)


def compare(
    measured: Iterable[tuple[str, Callable[[], Any]]],
    judge: Callable[[Any], Sequence[Judged]],
) -> Comparison:
    """Makes and judges each point. It is lacking if this raises ValueError, or if a
    row lacks a part of its name, and making it raises KeyError."""
    judged: list[Judged] = []
    lacking: list[Lacking] = []
    points = 0
    for name, made in measured:
        try:
            try:
                point = made()
            except KeyError as absent:
                raise ValueError(absent) from absent
            judged += judge(point)
            points += 1
        except json.JSONDecodeError:  # not the job's fault
            raise
        except ValueError as lacks:
            lacking.append(Lacking(name, str(lacks)))
    return Comparison(judged, lacking, points)
