# SPDX-License-Identifier: MIT
"""What a spec of an experiment can say: its columns, its sentence, its plots.

All of it is data: reports/answers and reports/pages make text and plots of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

TIME = "p50_us"


@dataclass(frozen=True)
class Axis:
    """Rows that differ in these parameters alone compare with the baseline."""

    word: str  # separated by spaces
    base: str  # their values in the baseline


@dataclass(frozen=True)
class Column:
    """A counter or a textual result; with `*` all that match."""

    counter: str
    heading: str = ""  # "": from the name of the counter
    per: str = ""  # over this counter of the row
    digits: int = 3


@dataclass(frozen=True)
class Versus:
    """The time of each row over its baseline's, the ratio of their peaks, and more."""

    axis: Axis
    also: Sequence[str] = ()  # further counters of the row


@dataclass(frozen=True)
class Extreme:
    """The row with the most, or the least, of a counter."""

    counter: str
    least: bool = False
    among: str = ""  # the parameters that may differ, separated by spaces; "": all
    also: Sequence[str] = ()
    needs: str = ""  # a counter that a row must have


@dataclass(frozen=True)
class Spread:
    """From the least to the most of a counter."""

    column: Column
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Values:
    """Counters or textual results of each of a few rows."""

    columns: Sequence[str]
    where: Mapping[str, str] = field(default_factory=dict)
    digits: int = 3


@dataclass(frozen=True)
class Growth:
    """The exponent of counters along a parameter."""

    along: str
    counters: Sequence[str]
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Settles:
    """From which value of a parameter on a counter stays near 1."""

    counter: str
    along: str
    near: float  # a relative tolerance


@dataclass(frozen=True)
class Onset:
    """The least value of a parameter at which a counter is not 0."""

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


@dataclass(frozen=True)
class Phases:
    """A bar for each row that has phases, divided into them."""

    where: Mapping[str, str] = field(default_factory=dict)


Plot = Bars | Lines | Phases


@dataclass(frozen=True)
class Spec:
    place: int = 1000
    columns: Sequence[str | Column] = ()  # after the time
    axis: Axis | None = None  # adds the ratios to a baseline
    across: str = ""  # the parameter that has a column for each of its values
    cells: Sequence[str] = (TIME,)  # of such a table, one for each counter
    phases: Literal["first", "last", "folded"] = "folded"  # where their table is
    sentence: Sequence[Claim] = ()
    plots: Sequence[Plot] = (Bars(),)
