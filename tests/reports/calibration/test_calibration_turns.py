# SPDX-License-Identifier: MIT
"""Programs in turns: the published tables are computed, and hold what they promise."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reports.calibration import in_turns, weather
from reports.calibration.weather import WEATHERS, Turns, Weather, turns_of
from reports.compare.ab_times import Times, pair_of
from reports.results.document import block_of

README = Path(in_turns.__file__).with_name("README.md")
STILL = Weather("still", turn=0, process=0)


def published() -> str:
    return block_of(README.read_text(encoding="utf-8"), "calibration")


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def cells_of(words: str, columns: int) -> list[str]:
    """The published line that begins with these words and has so many columns."""
    lines = [row for row in published().splitlines() if row.startswith(f"| {words} |")]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in lines]
    (found,) = [row for row in rows if len(row) == columns]
    return found


@pytest.mark.parametrize("number", [0, 5, 8])
def test_lines_are_reproduced(number: int) -> None:
    assert line(in_turns.spread_line(number, WEATHERS[number])) in published()
    assert line(in_turns.verdict_line(number, WEATHERS[number])) in published()


def percents(cells: list[str]) -> list[float]:
    return [float(re.findall(r"[\d.]+", cell)[0]) for cell in cells]


@pytest.mark.parametrize("found", WEATHERS, ids=lambda found: found.words)
def test_no_more_than_one_table_in_twenty_is_wrong(found: Weather) -> None:
    cells = cells_of(found.words, 7)
    for cell in cells[1:4]:
        (bound,) = re.findall(r"≤ ([\d.]+) %", cell)
        assert float(bound) <= 5


@pytest.mark.parametrize("found", WEATHERS, ids=lambda found: found.words)
def test_five_percent_are_found_in_all_rows_of_nearly_all_tables(
    found: Weather,
) -> None:
    (share,) = percents([cells_of(found.words, 7)[4]])
    assert share >= 95


@pytest.mark.parametrize("found", WEATHERS[1:7], ids=lambda found: found.words)
def test_turns_cancel_what_whole_processes_do_not(found: Weather) -> None:
    whole, *others, ours = percents(cells_of(found.words, 6)[1:])
    assert ours < 0.6 * whole
    assert ours <= 1.1 * min(others)


def test_a_fixed_order_is_a_rhythm() -> None:
    (found,) = percents([cells_of("every other turn is slower by 5 %", 7)[6]])
    assert found == 100


def turns(found: Weather, **changes: object) -> Turns:
    settings = {"tables": 2, "pairs": 5, "rows": 3, "rounds": 4} | changes
    return turns_of(found, np.random.default_rng(3), **settings)  # type: ignore[arg-type]


def test_without_noise_both_sides_are_equal() -> None:
    for whole in (False, True):
        found = turns(STILL, whole=whole)
        assert found.base.shape == (2, 5, 3, 4)
        assert np.array_equal(found.base, found.new)


def test_a_coin_decides_who_meets_the_slower_turn() -> None:
    found = turns(replace(STILL, rhythm=0.05), rounds=1000)
    later = found.new - found.base
    assert set(np.round(np.unique(later), 12)) == {-0.05, 0.05}
    assert 0.45 < (later > 0).mean() < 0.55
    base_first = turns(replace(STILL, rhythm=0.05), new_begins=np.zeros(4, bool))
    assert np.allclose(base_first.new - base_first.base, 0.05)


def test_what_a_process_keeps_is_in_all_its_turns() -> None:
    found = turns(replace(STILL, process=0.01))
    assert np.allclose(found.base, found.base[..., :1])
    assert len(np.unique(np.round(found.base[..., 0], 12))) == 2 * 5 * 3


def test_bursts_and_drift_slow_down_and_never_speed_up() -> None:
    for found in (replace(STILL, bursts=1.0), replace(STILL, drift=0.5)):
        times = turns(found).base
        assert times.min() >= 0 and 0.1 < times.max() < 0.6


def test_the_ratio_is_that_of_tools_ab() -> None:
    found = turns(replace(STILL, turn=0.1), rounds=7)
    base, new = np.exp(found.base[0, 0, 0]), np.exp(found.new[0, 0, 0])
    pair = pair_of(Times(1, {0: base.tolist()}), Times(1, {0: new.tolist()}))
    assert weather.middle_of_rounds(found)[0, 0, 0] == pytest.approx(pair.log_ratio)
    assert weather.errors(found)[0, 0, 0] == pytest.approx(pair.error)
    assert weather.ratio_of_medians(found)[0, 0, 0] == pytest.approx(
        math.log(np.median(new) / np.median(base))
    )
    assert weather.mean_of_rounds(found)[0, 0, 0] == pytest.approx(
        float(np.log(new / base).mean())
    )
