# SPDX-License-Identifier: MIT
"""What the experiments of a run expected, as their result file says it."""

from dataclasses import dataclass
from typing import Any

from reports.results.records import shown

RELATIONS = ("about", "at_most", "at_least")


@dataclass
class Quantity:
    """A counter of the selected rows, or what is made of it."""

    counter: str
    per: str  # over this counter of the same row; "" for none
    rows: dict[str, Any]  # the parameters of the rows that it is about, as texts
    versus: dict[str, Any]  # over the row that differs in these parameters only
    along: str  # the exponent of the growth with this parameter; "" for none
    unit: str = ""  # of the number; ratios and exponents have none

    def __post_init__(self) -> None:
        self.rows = {key: str(value) for key, value in self.rows.items()}
        self.versus = {key: str(value) for key, value in self.versus.items()}


@dataclass(frozen=True)
class Expectation:
    experiment: str
    text: str
    quantity: Quantity
    relation: str  # one of RELATIONS
    expected: float
    tolerance: float  # of "about", as a fraction

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            allowed = ", ".join(RELATIONS)
            raise ValueError(
                f"relation of an expectation is {shown(self.relation)}; "
                f"allowed: {allowed}"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most that it allows."""
        if self.relation == "at_most":
            return float("-inf"), self.expected
        if self.relation == "at_least":
            return self.expected, float("inf")
        margin = abs(self.expected) * self.tolerance
        return self.expected - margin, self.expected + margin
