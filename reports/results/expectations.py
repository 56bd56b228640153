# SPDX-License-Identifier: MIT
"""The expectations of a run's experiments, as its result file states them."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass
class Quantity:
    """A counter of the selected rows, or a ratio or growth exponent derived from it."""

    counter: str
    per: str  # divide by this counter of the same row; "" for none
    rows: dict[str, Any]  # the parameters that select the rows, as texts
    versus: dict[str, Any]  # divide by the row that differs in these parameters only
    along: str  # exponent of the growth along this parameter; "" for none
    unit: str = ""  # of the value; ratios and exponents have none

    def __post_init__(self) -> None:
        self.rows = {key: str(value) for key, value in self.rows.items()}
        self.versus = {key: str(value) for key, value in self.versus.items()}


@dataclass(frozen=True)
class Expectation:
    experiment: str
    text: str
    quantity: Quantity
    relation: Literal["about", "at_most", "at_least"]
    expected: float
    tolerance: float  # a fraction, for the relation "about"

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value that it allows."""
        if self.relation == "at_most":
            return float("-inf"), self.expected
        if self.relation == "at_least":
            return self.expected, float("inf")
        margin = abs(self.expected) * self.tolerance
        return self.expected - margin, self.expected + margin
