# SPDX-License-Identifier: MIT
"""The section of a page about one experiment."""

from collections.abc import Callable
from dataclasses import dataclass, field

from reports.answers.answer import Answer, answer_of
from reports.experiments import ordered, spec_of
from reports.pages import plot
from reports.pages.figures.breakdown import breakdown
from reports.pages.figures.collectives import all_reduce
from reports.pages.figures.memory import memory
from reports.pages.plotting.canvas import Figure
from reports.results.rows import Failure, Result

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


def experiments(result: Result) -> list[str]:
    """Returns the experiments with a row or an error, in reading order."""
    names = [row.experiment for row in result.rows]
    names += [case.experiment for case in result.errors]
    return ordered(names)


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
    return Section(**answer, figures=_figures(result, experiment), errors=errors)
