# SPDX-License-Identifier: MIT
"""The plots that specs define, where the page of the committed run has no example."""

from typing import Any

import pytest

from figures import texts
from reports.experiments.spec import TIME, Bars, Lines, Phases, Plot
from reports.pages.plot import MOST, figures
from results import entry, parsed


def case(n: int) -> Any:
    return entry(f"made/a/n:{n}", n, "kind=a", half_width=0.1)


def drawn(plot: Plot, *rows: Any) -> list[Any]:
    return figures(parsed(*rows), "made", [plot])


def test_of_many_rows_as_many_as_are_legible_are_drawn() -> None:
    (figure,) = drawn(Bars(), *(case(n) for n in range(1, MOST + 9)))
    assert sum(label.startswith("n:") for label in texts(figure.svg)) == MOST


@pytest.mark.parametrize("plot", [Bars(), Lines("n"), Phases(), Bars("x_bytes")])
def test_without_rows_there_is_no_plot(plot: Plot) -> None:
    assert drawn(plot) == []
    if not (isinstance(plot, Bars) and plot.counter == TIME):
        assert drawn(plot, case(1)) == []
