# SPDX-License-Identifier: MIT
"""Lower bounds on the time of each component of a step, and the headroom above them."""

from dataclasses import dataclass

from reports.advice.run import Run
from reports.answers.breakdown import Step
from reports.answers.measured import Measured, exactly, time_of, total
from reports.answers.shapes import arithmetic
from reports.results import text
from reports.results.rows import Row
from reports.results.text import Table

GAPS = ("dispatch", "autograd", "gap")  # no kernel runs
IDLE = "idle gaps"
PRODUCTS = "low-rate products"
PASSES = "memory passes"
LAUNCHES = "launches"


@dataclass(frozen=True)
class Bound:
    """The bound of a component in a phase, or of several components together."""

    measured: Measured  # microseconds
    bound_us: float
    is_whole: bool  # False: the run states only a part of the work
    cause: str  # of most of the headroom; "" without headroom

    @property
    def headroom(self) -> Measured:
        """The time above the bound; at least 0: cached data can be faster than RAM."""
        above = self.measured - exactly(self.bound_us)
        value, low, high = (max(0.0, us) for us in (above.value, above.low, above.high))
        return Measured(value, low, high, sources=above.sources)


def product_us(row: Row) -> float:
    """Returns the time in matrix products, including all of fused attention."""
    if row.words.get("component") == "fused_attention":
        return row.time_us
    return row.time_us * (row.get("matmul_share") or 0)


def _least(per_second: float, amount: float | None) -> float | None:
    """Returns the least time for the amount in us, or None if it is unknown."""
    if amount == 0:
        return 0
    return amount / per_second * 1e6 if per_second and amount is not None else None


def _cause(row: Row, run: Run, products_us: float) -> str:
    """Divides the headroom among its causes and names the largest part."""
    in_products = product_us(row)
    beside = row.time_us - in_products
    launches = min(beside, (row.get("calls") or 0) * run.launch_us)
    one_pass = _least(run.most_bytes, row.get("pass_bytes")) or 0
    parts = {
        PRODUCTS: in_products - products_us,
        PASSES: beside - launches - one_pass,
        LAUNCHES: launches,
    }
    return max(parts, key=lambda cause: parts[cause])


def bound_of(row: Row, run: Run) -> Bound:
    if row.words.get("component") in GAPS:
        return Bound(time_of(row), 0, is_whole=True, cause=IDLE)
    flops = row.get("flops") or 0
    if row.words.get("component") == "fused_attention":
        flops /= 2  # they count the full square, and half of it is masked
    products = _least(run.most_flops(arithmetic(row)), flops)
    moved = _least(run.most_bytes, row.get("compulsory_bytes"))
    bound_us = max(products or 0, moved or 0)
    is_above = row.time_us > bound_us
    return Bound(
        time_of(row),
        bound_us,
        is_whole=products is not None and moved is not None,
        cause=_cause(row, run, products or 0) if is_above else "",
    )


def together(parts: list[Bound]) -> Bound:
    """Adds up the bounds of components that run one after the other."""
    causes: dict[str, float] = {}
    for part in parts:
        causes[part.cause] = causes.get(part.cause, 0) + part.headroom.value
    return Bound(
        total([part.measured for part in parts]),
        sum(part.bound_us for part in parts),
        is_whole=all(part.is_whole for part in parts),
        cause=max(causes, key=lambda cause: causes[cause]),
    )


def _line(name: str, bound: Bound, whole_us: float) -> list[str]:
    at_least, at_most = ("", "") if bound.is_whole else ("≥ ", "≤ ")
    headroom = bound.headroom.value
    is_bound = bound.is_whole or bound.bound_us > 0
    return [
        name,
        bound.measured.plus_minus(text.time),
        at_least + text.time(bound.bound_us) if is_bound else "unknown",
        at_most + text.time(headroom) if headroom else "-",
        at_most + text.percent(headroom / whole_us) if headroom else "-",
        bound.cause or "-",
    ]


def table(step: Step, run: Run) -> Table:
    """Makes a table: components by headroom, largest first, then phases, the step."""
    found = {key: bound_of(row, run) for key, row in step.parts.items()}
    order = sorted(found, key=lambda key: -found[key].headroom.value)
    whole = together(list(found.values()))
    us = whole.measured.value
    lines = [_line(" ".join(key), found[key], us) for key in order]
    for phase in dict.fromkeys(phase for phase, _ in found):
        parts = [bound for (of, _), bound in found.items() if of == phase]
        lines.append(_line(f"{phase}, sum of parts", together(parts), us))
    lines.append(_line("step, sum of parts", whole, us))
    headings = ["part", "measured", "bound", "headroom", "of the step", "cause"]
    return Table(headings, lines, f"Headroom of {step.name}")
