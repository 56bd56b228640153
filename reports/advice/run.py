# SPDX-License-Identifier: MIT
"""The parts of a run that advice needs: the device's peak rates, and the steps."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from reports.answers.breakdown import Step, profiled
from reports.answers.measured import Measured, counter_of, exactly, time_of, total
from reports.answers.shapes import STEP, arithmetic
from reports.results.rows import Result, Row, grouped, with_most

TRAINING = "train_step"
Products = Mapping[tuple[int, int], Row]  # by the two sizes of the weight
OWN_LIBRARY = "mkl"  # LibTorch's, for fp32 on a CPU
_STATIC = (
    "predicted_parameter_bytes",
    "predicted_gradient_bytes",
    "predicted_optimizer_bytes",
)


@dataclass(frozen=True)
class Rate:
    """FLOPs or bytes per second."""

    per_second: Measured
    rows: tuple[str, ...]  # the rows that measured it

    def time(self, amount: float) -> Measured:
        """Returns the time for this amount of work, in microseconds."""
        zero = exactly(0)
        return exactly(amount) / self.per_second * 1e6 if amount else zero


@dataclass(frozen=True)
class Estimate:
    """A time, and the names of the rows from which it follows."""

    us: Measured
    rows: tuple[str, ...]  # some repeat


def names(rows: Iterable[Row]) -> tuple[str, ...]:
    return tuple(row.name for row in rows)


def best(rows: Iterable[Row], counter: str) -> Rate | None:
    """Returns the highest rate; None without any."""
    row = with_most(rows, counter)
    return Rate(counter_of(row, counter), (row.name,)) if row else None


def highest(rows: Iterable[Row], rate: str) -> float:
    """Returns the highest rate in any process, for a bound; 0 without any."""
    each = (row.each.get(rate, (row.get(rate) or 0,)) for row in rows)
    return max(chain(*each), default=0)


def shape_of(row: Row, *others: str) -> tuple[str, ...]:
    """Returns the parameters that identify a step, except for `others`."""
    keys = [key for key in (*STEP, "batch", "seq") if key not in others]
    return tuple(row.parameters.get(key, "") for key in keys)


def _mean_rate(products: Products, sizes: Iterable[tuple[int, int]]) -> Rate:
    rows = [products[size] for size in sizes]
    flops = exactly(sum(row["flops"] for row in rows))
    seconds = total([time_of(row) for row in rows]) * 1e-6
    return Rate(flops / seconds, names(rows))


def saved_by(now: Products, then: Products, products: Estimate) -> Estimate | None:
    """Predicts the time saved if a step's products get as much faster as the products
    with weights that both have; None without any."""
    sizes = sorted(now.keys() & then.keys())
    if not sizes:
        return None
    slow, fast = _mean_rate(now, sizes), _mean_rate(then, sizes)
    new = products.us / (fast.per_second / slow.per_second)
    return Estimate(products.us - new, (*products.rows, *slow.rows, *fast.rows))


@dataclass(frozen=True)
class Run:
    result: Result

    def of(self, experiment: str, **words: str) -> list[Row]:
        return self.result.of(experiment, **words)

    @property
    def memory_bytes(self) -> float:
        """The device's memory; 0 if the result does not state it."""
        key = "memory_bytes" if self.is_of_host else "device_memory_bytes"
        return float(self.result.context.get(key) or 0)

    @property
    def is_of_host(self) -> bool:
        return self.result.context.get("device_kind", "cpu") == "cpu"

    def products(self, precision: str) -> Rate | None:
        """Returns the rate of the fastest large matrix product."""
        return best(self.of("peak", precision=precision), "flops_per_second")

    def most_flops(self, precision: str) -> float:
        """Returns the most FLOP/s of a matrix product; 0 without any."""
        return highest(self.of("peak", precision=precision), "flops_per_second")

    def products_like(
        self,
        step: Row,
        precision: str = "",
        library: str = OWN_LIBRARY,
        batches: float = 1,
    ) -> Products:
        """Returns this library's matrix products with the number of tokens nearest to
        so many batches of the step; of two as near, with the smaller one."""
        precision = precision or arithmetic(step)
        tokens = batches * (step.get("batch") or 0) * (step.get("seq") or 0)
        by_tokens = grouped(
            [
                row
                for row in self.of("peak", precision=precision)
                if row.get("flops_per_second")
                and row.numbers.get("m")
                and row.words.get("library", OWN_LIBRARY) == library
            ],
            lambda row: row.numbers["m"],
        )
        if not by_tokens or not tokens:
            return {}
        rows = by_tokens[min(by_tokens, key=lambda m: (abs(math.log(m / tokens)), m))]
        return {(row.numbers.get("n", 0), row.numbers.get("k", 0)): row for row in rows}

    def attention_products(self, precision: str) -> Rate | None:
        """Returns the rate of attention's products, with d_head as inner dimension, or
        of a large product in a run without them."""
        rows = [
            row
            for part in ("qk", "pv")
            for row in self.of("softmax_vs_matmul", precision=precision, part=part)
        ]
        return best(rows, "flops_per_second") or self.products(precision)

    @cached_property
    def copy(self) -> Rate | None:
        """The rate of a pass that reads one tensor and writes another."""
        return best(self.of("peak", work="copy"), "bytes_per_second")

    @cached_property
    def most_bytes(self) -> float:
        """The most bytes/s of a pass over memory; 0 without any."""
        passes = [row for row in self.of("peak") if "precision" not in row.words]
        return highest(passes, "bytes_per_second")

    @cached_property
    def launch_us(self) -> float:
        """The time of an operator that does almost nothing; 0 on a GPU."""
        rows = self.of("peak", work="op_overhead")
        return rows[0].get("op_us") or 0 if rows and self.is_of_host else 0

    @cached_property
    def train_steps(self) -> list[Step]:
        """The profiled train steps, in run order: the last is the largest."""
        return [
            step
            for (_, _, mode, _), step in profiled(self.result).items()
            if mode == TRAINING and step.whole and step.parts
        ]

    def timed_steps(self) -> Iterator[Row]:
        """Yields the timed train steps of a single process."""
        for experiment in ("model_size", "precision", "breakdown"):
            for row in self.of(experiment, mode=TRAINING):
                if row.words.get("component", "timed") == "timed":
                    yield row

    def memory_row(self, step: Row) -> Row | None:
        """Returns the row of the experiment `memory` for the same step."""
        same = (row for row in self.of("memory") if shape_of(row) == shape_of(step))
        return next(same, None)

    def room(self, step: Row) -> float | None:
        """Returns the peak minus parameters, gradients and optimizer state: the most
        that changed activations can save. None if it is unknown."""
        row = self.memory_row(step)
        if row is None or any(row.get(key) is None for key in ("peak_bytes", *_STATIC)):
            return None
        return max(0.0, row["peak_bytes"] - sum(row[key] for key in _STATIC))
