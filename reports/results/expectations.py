# SPDX-License-Identifier: MIT
"""What the experiments of a run expected, as their result file says it."""

from dataclasses import dataclass
from typing import Any

from reports.results.checked_entry import NotAResult, is_number, shown
from reports.results.counters import CounterTable

RELATIONS = ("about", "at_most", "at_least")


@dataclass(frozen=True)
class Quantity:
    """A counter of the selected rows, or what is made of it."""

    counter: str
    per: str  # over this counter of the same row; "" for none
    rows: dict[str, str]  # the parameters of the rows that it is about
    versus: dict[str, str]  # over the row that differs in these parameters only
    along: str  # the exponent of the growth with this parameter; "" for none
    unit: str = ""  # of the number; ratios and exponents have none


@dataclass(frozen=True)
class Expectation:
    experiment: str
    text: str
    quantity: Quantity
    relation: str  # one of RELATIONS
    expected: float
    tolerance: float  # of "about", as a fraction

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most that it allows."""
        if self.relation == "at_most":
            return float("-inf"), self.expected
        if self.relation == "at_least":
            return self.expected, float("inf")
        margin = abs(self.expected) * self.tolerance
        return self.expected - margin, self.expected + margin


def _number(entry: dict[str, Any], key: str) -> float:
    if not is_number(entry[key]):
        raise NotAResult(
            f"{key} of an expectation is {shown(entry[key])}; allowed: finite numbers"
        )
    return float(entry[key])


def _texts(selection: dict[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in selection.items()}


def expectation(entry: dict[str, Any], table: CounterTable) -> Expectation:
    """Errors: NotAResult, KeyError, TypeError and AttributeError, if it is none."""
    if entry["relation"] not in RELATIONS:
        raise NotAResult(
            f"relation of an expectation is {shown(entry['relation'])}; allowed: "
            f"{', '.join(RELATIONS)}"
        )
    quantity = entry["quantity"]
    is_plain = not any(quantity[key] for key in ("per", "versus", "along"))
    return Expectation(
        experiment=str(entry["experiment"]),
        text=str(entry["text"]),
        quantity=Quantity(
            counter=str(quantity["counter"]),
            per=str(quantity["per"]),
            rows=_texts(quantity["rows"]),
            versus=_texts(quantity["versus"]),
            along=str(quantity["along"]),
            unit=table.find(str(quantity["counter"])).unit if is_plain else "",
        ),
        relation=entry["relation"],
        expected=_number(entry, "expected"),
        tolerance=_number(entry, "tolerance"),
    )
