# SPDX-License-Identifier: MIT
"""Judges the experiments' expectations: held, failed, or cannot tell."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from reports.answers.cells import value_of
from reports.answers.conclusions import exponent
from reports.answers.measured import Measured
from reports.answers.shapes import selected, without
from reports.experiments.spec import Column
from reports.results.expectations import Expectation
from reports.results.rows import Result, Row, grouped

Bounds = tuple[float, float]
ALPHA = 0.05  # the allowed probability of any wrong verdict on a run


class Verdict(IntEnum):
    """Verdicts in the order of a report."""

    FAILED = 0
    CANNOT_TELL = 1
    HELD = 2

    @property
    def words(self) -> str:
        return self.name.lower().replace("_", " ")


@dataclass
class Instance:
    """One value that an expectation applies to."""

    where: str  # its row or rows
    measured: Measured
    verdict: Verdict = Verdict.CANNOT_TELL
    lacks: str = ""  # what an open verdict lacks


@dataclass(frozen=True)
class Judgement:
    """An expectation and the run's values for it."""

    expectation: Expectation
    instances: list[Instance]

    @property
    def verdict(self) -> Verdict:
        return min(instance.verdict for instance in self.instances)

    @property
    def worst(self) -> Instance:
        """The instance with that verdict that exceeds the bounds most."""
        low, high = self.expectation.bounds

        def excess(instance: Instance) -> float:
            value = instance.measured.value
            return max(low - value, value - high)

        decisive = [i for i in self.instances if i.verdict == self.verdict]
        return max(decisive, key=excess)

    @property
    def counts(self) -> str:
        """How many instances have the verdict, e.g. "2 of 3"; "" for a single one."""
        if len(self.instances) == 1:
            return ""
        same = sum(i.verdict == self.verdict for i in self.instances)
        return f"{same} of {len(self.instances)}"


def verdict_of(measured: Measured, low: float, high: float) -> Verdict:
    if not measured.is_fair:
        return Verdict.CANNOT_TELL
    if measured.within(low, high):
        return Verdict.HELD
    return Verdict.FAILED if measured.outside(low, high) else Verdict.CANNOT_TELL


def _values(
    expectation: Expectation, rows: Sequence[Row]
) -> Iterator[tuple[Row, Measured]]:
    quantity = expectation.quantity
    column, versus = Column(quantity.counter, per=quantity.per), quantity.versus
    # The rows to compare with, by the parameters that they share with the others.
    others = {without(row, *versus): row for row in rows if selected(row, versus)}
    for row in rows:
        value = value_of(row, column) if selected(row, quantity.rows) else None
        if value is None:
            continue
        if versus:
            other = others.get(without(row, *versus))
            # A row without the parameter, such as the sum of all layers, is skipped.
            if other is None or other is row or not set(versus) <= set(row.parameters):
                continue
            divisor = value_of(other, column)
            if divisor is None or not divisor.value:
                continue
            value = value / divisor
        yield row, value


def _exponents(
    along: str, values: Iterable[tuple[Row, Measured]]
) -> Iterator[tuple[str, Measured]]:
    known = [
        (row, value)
        for row, value in values
        if row.numbers.get(along, 0) > 0 and value.value > 0  # as in exponent()
    ]
    for found in grouped(known, lambda pair: without(pair[0], along)).values():
        points = [(row.numbers[along], value) for row, value in found]
        if (power := exponent(points)) is not None:
            places = [place for place, _ in points]
            span = f"/{along}:{min(places)} to {max(places)}"
            where = re.sub(f"/{re.escape(along)}:[^/]*", span, found[0][0].name)
            yield where, power


def judge(expectation: Expectation, result: Result) -> Judgement:
    """Judges one expectation, without instances if it applies to no row of the run."""
    values = _values(expectation, result.of(expectation.experiment))
    along = expectation.quantity.along
    by_row = ((row.name, value) for row, value in values)
    measured = _exponents(along, values) if along else by_row
    instances = [Instance(where, value) for where, value in measured]
    return Judgement(expectation, instances)


def _doubtful(values: Sequence[tuple[Measured, Bounds]]) -> dict[int, int]:
    """Returns the places of values with a verdict that chance may have made, with the
    number of values that count: the probability of any wrong verdict among the others
    is at most 5 % (Holm, Scandinavian Journal of Statistics, 1979)."""
    # Values without a verdict count, too: chance chose which they are.
    doubts = [
        (value.doubt(*bounds), place)
        for place, (value, bounds) in enumerate(values)
        if value.is_fair and value.is_known and value.low < value.high
    ]
    found, stand = {}, True
    for rank, (doubt, place) in enumerate(sorted(doubts)):
        stand = stand and doubt * (len(doubts) - rank) <= ALPHA
        if not stand:
            found[place] = len(doubts)
    return found


def judged_together(
    values: Sequence[tuple[Measured, Bounds]],
) -> Iterator[tuple[Verdict, str]]:
    """Judges each value. An open verdict comes with what it lacks."""
    doubtful = _doubtful(values)
    for place, (value, bounds) in enumerate(values):
        verdict = verdict_of(value, *bounds)
        if verdict is Verdict.CANNOT_TELL:
            yield verdict, value.runs_to_tell(*bounds)
        elif place in doubtful:
            chance = f"it may be chance, among {doubtful[place]} values"
            yield Verdict.CANNOT_TELL, chance
        else:
            yield verdict, ""


def judgements(result: Result) -> list[Judgement]:
    """Judges all expectations that the run has rows for; failed ones come first."""
    each = (judge(expectation, result) for expectation in result.expectations)
    judged = [judgement for judgement in each if judgement.instances]
    every = [(i, one.expectation.bounds) for one in judged for i in one.instances]
    found = judged_together([(i.measured, bounds) for i, bounds in every])
    for (instance, _), (verdict, lacks) in zip(every, found, strict=True):
        instance.verdict, instance.lacks = verdict, lacks
    return sorted(judged, key=lambda judgement: judgement.verdict)
