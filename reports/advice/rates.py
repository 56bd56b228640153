# SPDX-License-Identifier: MIT
"""What the device can do, as rows of the run measured it."""

from collections.abc import Iterable
from dataclasses import dataclass

from reports.answers.measured import Measured, counter_of, exactly, over, times
from reports.results.rows import Row


@dataclass(frozen=True)
class Rate:
    """FLOPs or bytes per second."""

    per_second: Measured
    row: str  # that measured it

    def time(self, amount: float) -> Measured:
        """In microseconds."""
        zero = exactly(0)
        return times(over(exactly(amount), self.per_second), 1e6) if amount else zero


def arithmetic(row: Row) -> str:
    """The precision of the matrix products; under autocast it is bf16."""
    return row.words.get("precision", "fp32").removesuffix("_autocast")


def best(rows: Iterable[Row], counter: str) -> Rate | None:
    """The highest; None without any."""
    rates = [
        Rate(counter_of(row, counter), row.name) for row in rows if row.get(counter)
    ]
    return max(rates, key=lambda rate: rate.per_second.value, default=None)
