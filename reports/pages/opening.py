# SPDX-License-Identifier: MIT
"""What comes first on a page: what failed, what was disturbed, where the time goes and
what would help."""

from dataclasses import dataclass, replace

from reports.advice.advice import advice
from reports.advice.tell import gains, lines_table, sentence
from reports.answers import disturbed
from reports.answers.answer import answer_of
from reports.answers.comparing import least
from reports.answers.expectations import summary, table
from reports.answers.judging import Verdict, judgements
from reports.answers.measured import CANNOT_TELL, Measured, counter_of, exactly, over
from reports.pages.plotting.roofs import Point, points_of, roofs_of
from reports.results import text
from reports.results.rows import Result
from reports.results.text import Table

MOST_DISTURBED = 5  # rows in the table
MOST_CHANGES = 5


@dataclass(frozen=True)
class Opening:
    """Sentences in the order of their weight, and tables behind the first two."""

    expectations: str  # "" if the run states none
    judged: Table | None  # those that did not hold
    disturbed: str
    disturbed_rows: Table | None
    time: str  # where it goes
    gap: str  # the largest one to a bound
    help: str  # what a change would buy; "" if none is known to help
    changes: Table | None  # that would help, the largest first


def _judged(result: Result) -> tuple[str, Table | None]:
    judged = judgements(result)
    if not judged:
        return "", None
    open_ = [judgement for judgement in judged if judgement.verdict != Verdict.HELD]
    return summary(judged), table(open_) if open_ else None


def _disturbed(result: Result) -> Table | None:
    rows = disturbed.disturbed(result)[:MOST_DISTURBED]
    if not rows:
        return None
    return Table(["row", "why"], [[row.name, ", ".join(why)] for row, why in rows])


def _share_of_bound(point: Point) -> Measured:
    """Of the rate that the peaks of the run allow for the FLOPs and bytes of a row."""
    rate = counter_of(point.row, "flops_per_second")
    return over(rate, exactly(point.roof.at(point.intensity)))


def _gap(result: Result) -> str:
    """The row that is farthest from its bound."""
    roofs = roofs_of(result)
    if not roofs:
        return ""
    points = [point for point in points_of(result, roofs) if point.own]
    shares = {point.row.name: _share_of_bound(point) for point in points}
    if not shares:
        return ""
    first, rivals = least(shares)
    told = (
        f"`{first}` reaches {shares[first].plus_minus(text.percent)} of what the "
        "measured peaks allow for its FLOPs and bytes"
    )
    if not rivals:
        return f"The largest gap to its bound: {told}."
    others = text.plural(len(rivals), "other row")
    return (
        f"Which row is farthest from its bound {CANNOT_TELL}: {told}, and {others} may "
        "reach less."
    )


def _changes(result: Result) -> tuple[str, Table | None]:
    given = advice(result)
    told = sentence(given)
    return told, replace(
        lines_table(gains(given)[:MOST_CHANGES]), title=""
    ) if told else None


def opening(result: Result) -> Opening:
    """Errors: NotAResult."""
    expectations, judged = _judged(result)
    if result.of_null_gpu:
        return Opening(expectations, judged, "", None, "", "", "", None)
    breakdown = answer_of(result, "breakdown")
    return Opening(
        expectations,
        judged,
        disturbed.sentence(result),
        _disturbed(result),
        breakdown[0] if breakdown else "",
        _gap(result),
        *_changes(result),
    )
