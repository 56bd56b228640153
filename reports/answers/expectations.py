# SPDX-License-Identifier: MIT
"""Formats the verdicts on the expectations."""

import math
from collections import Counter
from collections.abc import Sequence

from reports.answers.conclusions import CANNOT_TELL
from reports.answers.judging import Judgement, Verdict
from reports.results import text
from reports.results.expectations import Expectation

MOST_DIGITS = 6


def _formatted(expectation: Expectation, value: float, digits: int = 3) -> str:
    return text.with_unit(value, expectation.quantity.unit, digits)


def _digits(judgement: Judgement) -> int:
    """Returns the fewest digits that distinguish the measured value from the bounds."""
    expectation, value = judgement.expectation, judgement.worst.measured.value
    bounds = [
        bound for bound in expectation.bounds if math.isfinite(bound) and bound != value
    ]
    for digits in range(3, MOST_DIGITS):
        shown = [_formatted(expectation, bound, digits) for bound in bounds]
        if _formatted(expectation, value, digits) not in shown:
            return digits
    return MOST_DIGITS


def expected_text(expectation: Expectation) -> str:
    """Formats the expected value, e.g. "2 ± 15 %" or "at most 52"."""
    exact = expectation.expected == float(f"{expectation.expected:.{MOST_DIGITS}g}")
    digits = MOST_DIGITS if exact else 3
    value = _formatted(expectation, expectation.expected, digits)
    if expectation.relation == "about":
        tolerance = expectation.tolerance
        return f"{value} ± {text.percent(tolerance)}" if tolerance else value
    return f"{expectation.relation.replace('_', ' ')} {value}"


def measured_text(judgement: Judgement) -> str:
    expectation = judgement.expectation
    digits = _digits(judgement)
    return judgement.worst.measured.text(
        lambda value: _formatted(expectation, value, digits)
    )


def summary(judged: Sequence[Judgement]) -> str:
    """Counts, e.g. "Of 4 expectations 1 failed, 2 held; 1 cannot be told from ..."."""
    counts = Counter(judgement.verdict for judgement in judged)
    failed, open_, held = (counts[verdict] for verdict in Verdict)
    expectations = text.plural(len(judged), "expectation")
    sentence = f"Of {expectations} {failed} failed, {held} held"
    return f"{sentence}; {open_} {CANNOT_TELL}." if open_ else f"{sentence}."


def line_of(judgement: Judgement) -> list[str]:
    """Returns experiment, expectation, expected, measured, verdict, row."""
    expectation = judgement.expectation
    counts = f" ({judgement.counts})" if judgement.counts else ""
    lacks = judgement.worst.lacks
    return [
        expectation.experiment,
        expectation.text,
        expected_text(expectation),
        measured_text(judgement),
        f"{judgement.verdict.words}{counts}" + (f": {lacks}" if lacks else ""),
        judgement.worst.where.partition("/")[2],
    ]


def table(judged: Sequence[Judgement], title: str = "") -> text.Table:
    """Makes a table with a line for each expectation and its worst row."""
    headings = ["experiment", "expectation", "expected", "measured", "verdict", "row"]
    return text.Table(headings, [line_of(judgement) for judgement in judged], title)


def _without_rows(judged: Sequence[Judgement], stated: Sequence[Expectation]) -> str:
    used = [judgement.expectation for judgement in judged]
    unused = Counter(one.experiment for one in stated if one not in used)
    named = [f"{experiment} ({count})" for experiment, count in unused.items()]
    return f"Expectations that apply to no row: {', '.join(named)}." if named else ""


def plain(judged: Sequence[Judgement], stated: Sequence[Expectation]) -> str:
    """Formats a line for each that did not hold, the summary, and how many of all
    stated ones apply to no row; "" without any."""
    lines = []
    for judgement in judged:
        if judgement.verdict == Verdict.HELD:
            continue
        experiment, told, expected, measured, verdict, where = line_of(judgement)
        lines.append(
            f"{experiment}: {told}: {verdict}; expected {expected}, measured "
            f"{measured} in {where}"
        )
    lines += [summary(judged)] if judged else []
    return "\n".join(filter(None, [*lines, _without_rows(judged, stated)]))
