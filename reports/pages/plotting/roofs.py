# SPDX-License-Identifier: MIT
"""The roofline: the peak rates of a run, and its rows relative to them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from reports.advice.run import arithmetic
from reports.results.rows import Result, Row

ABOVE = 1.02  # times the roof; below that it is noise
# The program says so of a row that no peak explains (derived_metrics.cc).
_RAISES = "later rows are compared with this one"
GRAINS = (18, 12, 8, 5, 3)  # distinguishable points per decade, finest first
MOST_POINTS = 400  # in one figure


@dataclass(frozen=True)
class Roof:
    precision: str
    flops: float  # per second, of the best matrix product
    bytes: float  # per second, of the best pass over memory
    raised_by: list[str] = field(
        default_factory=list
    )  # rows above all peaks, which raise it

    @property
    def ridge(self) -> float:
        """The FLOPs per byte above which arithmetic is the limit."""
        return self.flops / self.bytes

    def at(self, intensity: float) -> float:
        return min(self.flops, intensity * self.bytes)


@dataclass(frozen=True)
class Point:
    row: Row
    intensity: float  # FLOPs per byte
    rate: float  # FLOPs per second
    roof: Roof
    own: bool  # whether the roof has the precision of the row

    @property
    def above(self) -> bool:
        # The memory limit is the same for all precisions.
        limit = self.roof.at(self.intensity) if self.own else float("inf")
        memory = self.intensity * self.roof.bytes
        return self.rate > ABOVE * min(limit, memory)


def _raising(result: Result, peak: str) -> list[Row]:
    """The rows that are faster than each peak of this kind that ran before them."""
    return [
        row
        for row in result.rows
        if row.findings.get("above_peak", "").endswith(f"{peak}: {_RAISES}")
    ]


def _moved_per_second(result: Result, row: Row) -> float:
    """Without what the cache may hold, which memory need not move."""
    cache = float(result.context.get("last_level_cache_bytes", 0))
    return max(row["bytes"] - cache, 0) / row.time_us * 1e6


def roofs_of(result: Result) -> dict[str, Roof]:
    peaks = result.of("peak")
    passes, products = _raising(result, "pass over memory"), _raising(result, "product")
    rates = [
        row["bytes_per_second"]
        for row in peaks
        if row.get("bytes_per_second") and not row.get("flops_per_second")
    ]
    best: dict[str, float] = {}
    for row in (*peaks, *products):
        flops, precision = row.get("flops_per_second"), arithmetic(row)
        if flops:
            best[precision] = max(flops, best.get(precision, 0))
    if not rates:
        return {}
    memory = max([*rates, *(_moved_per_second(result, row) for row in passes)])
    raised_by = {
        name: (*passes, *(row for row in products if arithmetic(row) == name))
        for name in best
    }
    return {
        name: Roof(name, flops, memory, [row.name for row in raised_by[name]])
        for name, flops in best.items()
    }


def points_of(result: Result, roofs: dict[str, Roof]) -> list[Point]:
    """The rows with a FLOP and a byte rate, except distributed ones: their ranks share
    a device or use several, so the peaks of the device do not apply."""
    points = []
    for row in result.rows:
        flops, size = row.get("flops"), row.get("bytes")
        rate, precision = row.get("flops_per_second"), arithmetic(row)
        if not (flops and size and rate) or "ranks" in row.counters:
            continue
        roof = roofs.get(precision) or next(iter(roofs.values()))
        points.append(Point(row, flops / size, rate, roof, precision in roofs))
    return points


def _at_grain(points: Sequence[Point], grain: int) -> list[Point]:
    """Keeps one of the points of an experiment that would cover each other."""
    kept = {
        (
            *(point.row.experiment, point.own, point.above),
            round(grain * math.log10(point.intensity)),
            round(grain * math.log10(point.rate)),
        ): point
        for point in points
    }
    return list(kept.values())


def thinned(points: Sequence[Point]) -> list[Point]:
    """Up to MOST_POINTS points from the whole plane."""
    thinnings = [_at_grain(points, grain) for grain in GRAINS]
    few = (drawn for drawn in thinnings if len(drawn) <= MOST_POINTS)
    return next(few, thinnings[-1])
