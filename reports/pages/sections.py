# SPDX-License-Identifier: MIT
"""The sections of a page: advice, experiments, the roofline, expectations, disturbed
rows and skipped cases."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reports.advice import tell
from reports.advice.advice import advice
from reports.answers import disturbed
from reports.answers.answer import Answer, answer_of, skipped_sentence
from reports.answers.conclusions import least
from reports.answers.expectations import summary, table
from reports.answers.judging import Verdict, judgements
from reports.answers.measured import Measured, counter_of, exactly
from reports.experiments.specs import ordered, spec_of
from reports.pages import plot
from reports.pages.figures.breakdown import breakdown
from reports.pages.figures.collectives import all_reduce
from reports.pages.figures.memory import memory
from reports.pages.figures.roofline import Point, Roof, points_of, roofline, roofs_of
from reports.pages.figures.timelines import timelines
from reports.pages.plotting.canvas import Figure
from reports.results import text
from reports.results.rows import Failure, Result
from reports.results.text import Table

MOST_DISTURBED = 5  # rows that are not folded

# Plots that a spec cannot express.
_FIGURES: dict[str, Callable[[Result], list[Figure]]] = {
    "all_reduce": all_reduce,
    "breakdown": breakdown,
    "memory": memory,
}


@dataclass(frozen=True)
class Section(Answer):
    """An answer with its plots."""

    figures: list[Figure] = field(default_factory=list)
    errors: list[Failure] = field(default_factory=list)
    anchor: str = ""  # unique in the page
    in_full: bool = False  # whether Markdown has all of the first table


def _figures(result: Result, experiment: str) -> list[Figure]:
    if result.of_null_gpu:
        return []
    if experiment in _FIGURES:
        return _FIGURES[experiment](result)
    return plot.figures(result, experiment, spec_of(experiment).plots)


def section(result: Result, experiment: str) -> Section:
    """Makes a section. Errors: NotAResult, if a row lacks a part that it must have."""
    errors = [case for case in result.errors if case.experiment == experiment]
    answer = vars(answer_of(result, experiment))
    figures, in_full = _figures(result, experiment), experiment == "breakdown"
    return Section(**answer, figures=figures, errors=errors, in_full=in_full)


def _share_of_bound(point: Point) -> Measured:
    """Returns the row's share of the rate that the roof allows for its intensity."""
    rate = counter_of(point.row, "flops_per_second")
    return rate / exactly(point.roof.at(point.intensity))


def _bounds(roof: Roof, points: Sequence[Point]) -> list[str]:
    """Makes a line on the rows of the roof's precision."""
    own = [point for point in points if point.roof is roof and point.own]
    below = sum(point.intensity < roof.ridge for point in own)
    rates = text.rate(roof.flops, "FLOP/s"), text.rate(roof.bytes, "B/s")
    cells = [roof.precision, *rates, text.significant(roof.ridge)]
    cells += [str(len(own)), str(below)]
    shares = {point.row.name: _share_of_bound(point) for point in own}
    if not shares:
        return [*cells, "-", "-", "-"]
    farthest, rivals = least(shares)
    share = shares[farthest].plus_minus(text.percent)
    return [*cells, farthest, share, str(len(rivals))]


_BOUNDS = (
    *("precision", "product rate", "memory rate", "ridge, FLOPs per byte"),
    *("rows", "below the ridge", "farthest from its bound", "share of its bound"),
    "others that may be farther",
)


def roofline_section(result: Result) -> Iterator[Section]:
    """Yields the roofline section; none if the run measured no peaks."""
    figures = roofline(result)
    if not figures:
        return
    roofs = roofs_of(result)
    points = points_of(result, roofs)
    yield Section(
        name="roofline",
        question="Which rows does arithmetic hold back and which memory, and how "
        "far is each from the most that the same run measured?",
        # Bytes are the ones that no algorithm can avoid. A row that moves more is bound
        # by memory at a higher intensity, so only one side of the ridge is certain.
        sentence="Memory bounds the rate of a row below the ridge, arithmetic the rate "
        "of the others, or memory if they move more bytes than they must, as naive "
        "attention does. Neither limits a row that is far below its bound.",
        tables=[Table(_BOUNDS, [_bounds(roof, points) for roof in roofs.values()])],
        in_full=True,
        figures=figures,
    )


def advice_section(result: Result) -> Iterator[Section]:
    """Yields the section on advice; none without any. Errors: NotAResult."""
    given = advice(result)
    found = tell.tables(given)
    if not found:
        return
    told = [tell.sentence(given) or "No change is known to help."]
    shown = found[: 1 if given.lines else 0]
    reasons = [tell.reasons_table(given.lines)] if given.lines else []
    yield Section(
        name="advice",
        question="What would a change buy, by the rows of this run, and how far is "
        "each part of a step from the least time that the device needs?",
        sentence=" ".join(filter(None, [*told, tell.lacking(given)])),
        tables=shown,
        details=[*found[len(shown) :], *reasons],
        in_full=True,
    )


def _listed(name: str, sentence: str, shown: Table | None, *folded: Table) -> Section:
    """Makes a section from the tables that have lines."""
    tables = [shown] if shown and shown.lines else []
    details = [each for each in folded if each.lines]
    return Section(name, "", "", sentence, tables, details, in_full=True)


_ALLOWS = (
    "A verdict allows for the number of values judged; an interval in another section "
    "is a 95 % one for its value alone."
)


def closing(result: Result) -> Iterator[Section]:
    """Yields the last sections that have something to report."""
    if judged := judgements(result):
        titles = {
            Verdict.FAILED: "Expectations that failed",
            Verdict.CANNOT_TELL: "Expectations without a verdict",
            Verdict.HELD: "Expectations that held",
        }
        tables = (
            table([one for one in judged if one.verdict == verdict], title)
            for verdict, title in titles.items()
        )
        yield _listed("expectations", f"{summary(judged)} {_ALLOWS}", *tables)
    if noisy := [
        [row.name, ", ".join(why)] for row, why in disturbed.disturbed(result)
    ]:
        headings, few = ("row", "why"), MOST_DISTURBED
        first = Table(headings, noisy[:few])
        others = Table(headings, noisy[few:], "Further disturbed rows")
        said = disturbed.sentence(len(noisy), result)
        yield _listed("disturbed", said, first, others)
    if cases := [[case.name, case.reason] for case in result.skipped]:
        every = Table(("case", "skipped because"), cases, "Skipped cases")
        yield _listed("skipped", skipped_sentence(result), None, every)


def sections(result: Result, trace: Path | None) -> Iterator[Section]:
    """Yields all sections, without anchors."""
    yield from advice_section(result)
    names = [row.experiment for row in result.rows]
    names += [case.experiment for case in result.errors]
    for experiment in ordered(names):
        made = section(result, experiment)
        if experiment == "memory" and trace is not None:
            made = replace(made, figures=made.figures + timelines(trace))
        yield made
        if experiment == "peak" and not result.of_null_gpu:
            yield from roofline_section(result)
    yield from closing(result)
