# SPDX-License-Identifier: MIT
"""The sections of a page that span several experiments."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reports.advice.advice import advice
from reports.advice.tell import (
    gains,
    lacking,
    lines_table,
    reasons_table,
    sentence,
    tables,
)
from reports.answers.measured import CANNOT_TELL, Measured, counter_of, exactly, least
from reports.pages.figures import roofline
from reports.pages.figures.roofline import Point, Roof, points_of, roofs_of
from reports.pages.section import Section
from reports.results import text
from reports.results.rows import Result

MOST_CHANGES = 5  # that are not folded


def _balance(roof: Roof, points: Sequence[Point]) -> str:
    """States how many rows of the precision are on either side of the ridge.

    Bytes are the ones that no algorithm can avoid. A row that moves more is bound by
    memory at a higher intensity, so only one side of the ridge is certain.
    """
    own = [point for point in points if point.roof is roof and point.own]
    below = sum(point.intensity < roof.ridge for point in own)
    sentence = (
        f"In {roof.precision} {text.rate(roof.flops, 'FLOP/s')} and "
        f"{text.rate(roof.bytes, 'B/s')} meet at {text.significant(roof.ridge)} FLOPs "
        f"per byte. {below} of {len(own)} rows have fewer per byte that they must "
        "move, so that memory is their limit"
    )
    if below == len(own):
        return f"{sentence}."
    return (
        f"{sentence}; arithmetic can be the limit of the other {len(own) - below}, "
        "unless they move more bytes than they must, as naive attention does."
    )


def _share_of_bound(point: Point) -> Measured:
    """Returns the row's share of the rate that the roof allows for its intensity."""
    rate = counter_of(point.row, "flops_per_second")
    return rate / exactly(point.roof.at(point.intensity))


def _gap(points: Sequence[Point]) -> str:
    """States which row is farthest from its bound."""
    shares = {point.row.name: _share_of_bound(point) for point in points if point.own}
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


def roofline_section(result: Result) -> Iterator[Section]:
    """Yields the roofline section; none if the run measured no peaks."""
    figures = roofline.roofline(result)
    if not figures:
        return
    roofs = roofs_of(result)
    points = points_of(result, roofs)
    yield Section(
        name="roofline",
        question="Which rows does arithmetic hold back and which memory, and how "
        "far is each from the most that the same run measured?",
        sentence=" ".join(
            [*(_balance(roof, points) for roof in roofs.values()), _gap(points)]
        ).strip(),
        figures=figures,
    )


def advice_section(result: Result) -> Iterator[Section]:
    """Yields the section on advice; none without any. Errors: NotAResult."""
    given = advice(result)
    found = tables(given)
    if not found:
        return
    told = [sentence(given) or "No change is known to help.", lacking(given)]
    best = gains(given)[:MOST_CHANGES]
    yield Section(
        name="advice",
        question="What would a change buy, by the rows of this run, and how far is "
        "each part of a step from the least time that the device needs?",
        sentence=" ".join(filter(None, told)),
        tables=[replace(lines_table(best), title="")] if best else [],
        details=[*found, *([reasons_table(given.lines)] if given.lines else [])],
    )
