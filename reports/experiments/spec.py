# SPDX-License-Identifier: MIT
"""The vocabulary of an experiment's spec: its columns, its sentence, its plots.

All of it is data, from which reports/answers and reports/pages make text and plots.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from reports.results.rows import TIME


@dataclass(frozen=True)
class Axis:
    """Parameters: rows that differ only in them are compared with the baseline."""

    word: str  # the parameters' names, separated by spaces
    base: str  # the baseline's values of them


@dataclass(frozen=True)
class Column:
    """A counter or a textual result, or all that match a pattern with `*`."""

    counter: str
    heading: str = ""  # "": from the name of the counter
    per: str = ""  # divide by this counter of the row
    digits: int = 3


@dataclass(frozen=True)
class Versus:
    """The ratios of each row's time and peak memory to its baseline's, and more."""

    axis: Axis
    also: Sequence[str] = ()  # further counters of the row


@dataclass(frozen=True)
class Extreme:
    """The row with the highest, or the lowest, value of a counter."""

    counter: str
    least: bool = False
    # Parameters, separated by spaces. Only rows that agree with the run's last row in
    # all others count. "": all rows count.
    among: str = ""
    also: Sequence[str] = ()
    needs: str = ""  # a counter that a row must have
    each: str = ""  # one row for each value of this parameter


@dataclass(frozen=True)
class Spread:
    """The range of a counter from its lowest to its highest value."""

    column: str | Column
    where: Mapping[str, str] = field(default_factory=dict)
    needs: str = ""  # a counter that a row must have
    versus: Axis | None = None  # the range of times over the baseline's, by this name


@dataclass(frozen=True)
class Values:
    """Counters or textual results of each of a few rows."""

    columns: Sequence[str | Column]
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Growth:
    """The exponent of counters along a parameter."""

    along: str
    counters: Sequence[str]
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Settles:
    """The value of a parameter from which on a counter stays near 1."""

    counter: str
    along: str
    near: float  # a relative tolerance


@dataclass(frozen=True)
class Onset:
    """The lowest value of a parameter at which a counter is not 0."""

    counter: str
    along: str


Claim = Versus | Extreme | Spread | Values | Growth | Settles | Onset


@dataclass(frozen=True)
class Bars:
    """A bar for each row; with a baseline, ratios to it."""

    counter: str = TIME
    versus: Axis | None = None
    split: str = ""  # a figure for each value of these parameters


@dataclass(frozen=True)
class Lines:
    """A line for each combination of the other parameters."""

    x: str
    counter: str = TIME
    split: str = ""
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Phases:
    """A bar for each row that has phases, divided into them."""

    where: Mapping[str, str] = field(default_factory=dict)


Plot = Bars | Lines | Phases


@dataclass(frozen=True)
class Spec:
    columns: Sequence[str | Column] = ()  # after the time
    axis: Axis | None = None  # adds the ratios to a baseline
    across: str = ""  # the parameter that has a column for each of its values
    cells: Sequence[str] = (TIME,)  # with `across`, the counters that make a table each
    phases: Literal["first", "last", "folded"] = "folded"  # place of the phase table
    sentence: Sequence[Claim] = ()
    plots: Sequence[Plot] = (Bars(),)
