# SPDX-License-Identifier: MIT
"""What was reached, against what the same run measured to be the most."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from reports import text
from reports.pages.figure import COLOURS, Figure, draw
from reports.pages.figures.bars import below
from reports.rows import Result, Row

MARKERS = "osD^vPX*"
ABOVE = 1.02  # of the roof: less is noise
GRAIN = 60  # points per decade that can be told apart
COLUMNS = 3  # of the legend
MOST_NAMES = 8


@dataclass(frozen=True)
class Roof:
    precision: str
    flops: float  # per second, of the best matrix product
    bytes: float  # per second, of the best copy or update

    @property
    def ridge(self) -> float:
        """FLOPs per byte from which on memory is no longer the limit."""
        return self.flops / self.bytes

    def at(self, intensity: float) -> float:
        return min(self.flops, intensity * self.bytes)


@dataclass(frozen=True)
class Point:
    row: Row
    intensity: float  # FLOPs per byte
    rate: float  # FLOPs per second
    roof: Roof
    own: bool  # whether the roof is that of the row's precision

    @property
    def above(self) -> bool:
        # Another precision's roof is not its own, but memory is the same.
        limit = self.roof.at(self.intensity) if self.own else float("inf")
        memory = self.intensity * self.roof.bytes
        return self.rate > ABOVE * min(limit, memory)


def _arithmetic(row: Row) -> str:
    """Autocast's products are bf16 products."""
    return row.words.get("precision", "fp32").removesuffix("_autocast")


def _roofs(result: Result) -> dict[str, Roof]:
    peaks = result.of("peak")
    rates = [
        row["bytes_per_second"]
        for row in peaks
        if row.get("bytes_per_second") and not row.get("flops_per_second")
    ]
    best: dict[str, float] = {}
    for row in peaks:
        flops, precision = row.get("flops_per_second"), _arithmetic(row)
        if flops:
            best[precision] = max(flops, best.get(precision, 0))
    if not rates:
        return {}
    return {name: Roof(name, flops, max(rates)) for name, flops in best.items()}


def _points(result: Result, roofs: dict[str, Roof]) -> list[Point]:
    """Rows that have both rates. Ranks are left out: they share a device, or are
    several, so that the peaks are not theirs."""
    points = []
    for row in result.rows:
        flops, size = row.get("flops"), row.get("bytes")
        rate, precision = row.get("flops_per_second"), _arithmetic(row)
        if not (flops and size and rate) or "ranks" in row.counters:
            continue
        roof = roofs.get(precision) or next(iter(roofs.values()))
        points.append(Point(row, flops / size, rate, roof, precision in roofs))
    return points


def _thinned(points: Sequence[Point]) -> list[Point]:
    """Of points that would cover each other one; the file is as much smaller."""
    kept = {
        (
            round(GRAIN * _log10(point.intensity)),
            round(GRAIN * _log10(point.rate)),
            point.own,
        ): point
        for point in points
    }
    return list(kept.values())


def _log10(value: float) -> float:
    import math

    return math.log10(value)
