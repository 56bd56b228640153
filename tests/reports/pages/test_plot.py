# SPDX-License-Identifier: MIT
"""The plots that specs define, from handmade rows."""

from typing import Any

import pytest

from figures import gids, texts
from reports.experiments.spec import TIME, Axis, Bars, Lines, Phases, Plot
from reports.pages.plot import MOST, figures
from reports.results.rows import parse
from results import document, entry


def case(kind: str, n: int, us: float, **more: float) -> Any:
    return entry(f"made/{kind}/n:{n}", us, f"kind={kind}", half_width=0.1, **more)


ROWS = [case(kind, n, n * us) for kind, us in (("a", 8), ("b", 4)) for n in (1, 2, 4)]


def drawn(plot: Plot, *rows: Any) -> list[Any]:
    return figures(parse(document(*rows)), "made", [plot])


def test_each_row_is_a_point_named_by_what_differs() -> None:
    (figure,) = drawn(Bars(), *ROWS)
    assert figure.title == "made: time"
    assert {"a n:1", "b n:4"} <= set(texts(figure.svg))
    assert "a n:1 8 us" in figure.description
    many = [case("a", n, n) for n in range(1, MOST + 9)]
    (figure,) = drawn(Bars(), *many)
    assert sum(label.startswith("n:") for label in texts(figure.svg)) == MOST


@pytest.mark.parametrize("largest", [5, 500])  # more: a logarithmic axis
def test_an_axis_of_bytes_has_powers_of_two(largest: int) -> None:
    rows = [case("a", n, 1, peak_bytes=n * 2**20) for n in (1, 3, largest)]
    (figure,) = drawn(Bars("peak_bytes"), *rows)
    axis = {text.partition(" ")[0] for text in texts(figure.svg) if "iB" in text}
    ticks = {n for n in map(int, axis - {"3", "5", "500"})}
    assert len(ticks) > 1 and all(n & (n - 1) == 0 for n in ticks), ticks


def test_with_a_baseline_bars_are_ratios_with_intervals() -> None:
    (figure,) = drawn(Bars(versus=Axis("kind", "a")), *ROWS)
    assert figure.title == "made: time over a"
    assert texts(figure.svg).count("0.5") >= 3
    assert len(gids(figure.svg, "interval-")) == 3


def test_a_split_makes_a_figure_of_each_value() -> None:
    made = drawn(Lines("n", split="kind"), *ROWS)
    assert [figure.title for figure in made] == ["made: time, a", "made: time, b"]
    (figure,) = drawn(Lines("n"), *ROWS)
    assert {"a", "b"} <= set(texts(figure.svg))


def test_phases_are_parts_of_bars() -> None:
    step = case("a", 1, 90, forward_us=30, backward_us=60)
    (figure,) = drawn(Phases(), step, case("b", 1, 5))
    assert {"forward", "backward", "30 us", "60 us"} <= set(texts(figure.svg))
    assert gids(figure.svg, "bar-") == ["bar-0-forward", "bar-0-backward"]


@pytest.mark.parametrize("plot", [Bars(), Lines("n"), Phases(), Bars("x_bytes")])
def test_without_rows_there_is_no_plot(plot: Plot) -> None:
    assert drawn(plot) == []
    if not (isinstance(plot, Bars) and plot.counter == TIME):
        assert drawn(plot, case("a", 1, 5)) == []
