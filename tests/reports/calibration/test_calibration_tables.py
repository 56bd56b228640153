# SPDX-License-Identifier: MIT
"""The published tables are the program's results, and keep their promises."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from golden import check_golden, refusals
from reports.calibration import history, in_turns, pages, simulated, stored
from reports.calibration.main import main
from reports.calibration.noise import SCENARIOS, Noise
from reports.calibration.rule import at_most
from reports.calibration.samples import load
from reports.calibration.weather import WEATHERS, Weather
from results import write

README = Path(pages.__file__).with_name("README.md")


def published() -> str:
    return README.read_text(encoding="utf-8")


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def cells_of(first: str) -> list[list[str]]:
    """Returns the cells of every published line that begins with `first`."""
    lines = [row for row in published().splitlines() if row.startswith(f"| {first} |")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in lines]


def bounds(cells: Iterable[str]) -> list[float]:
    """Returns the upper ends of the rates' intervals, in percent."""
    return [float(end) for end in re.findall(r"≤ ([\d.]+)", " ".join(cells))]


QUICK = ("Stored times", "Power", "Simulated: share of such", "Simulated: rows that")


def test_tables_that_take_seconds_are_reproduced() -> None:
    tables = pages.tables(load())
    quick = [caption for caption in tables if caption.startswith(QUICK)]
    assert len(quick) == 9
    for caption in quick:
        assert pages.titled(caption, tables[caption]) in published()


@pytest.mark.parametrize("seed", [0, 8, 9])
def test_lines_of_the_false_alarms_are_reproduced(seed: int) -> None:
    assert line(simulated.sequential_line(seed, SCENARIOS[seed])) in published()


def test_a_line_of_one_process_a_side_is_reproduced() -> None:
    assert line(simulated.once_line(5, SCENARIOS[5])) in published()


@pytest.mark.parametrize("noise", SCENARIOS, ids=lambda noise: noise.words)
def test_no_more_than_one_table_in_twenty_is_wrong(noise: Noise) -> None:
    """Uses the upper end of the interval, in either direction and for each rule."""
    in_pairs, one_process = cells_of(noise.words)
    found = bounds([*in_pairs[1:4], one_process[2]])
    assert len(found) == 4 and max(found) <= 5


@pytest.mark.parametrize(
    "words", ["each process and row differs by 0.5 %", "0.5 %, in all rows alike"]
)
def test_no_effect_that_matters_is_called_equivalent(words: str) -> None:
    (cells,) = cells_of(words)
    found = bounds(cells)
    assert len(found) == 3 and max(found) <= 5


@pytest.mark.parametrize("number", [0, 5, 8])
def test_lines_of_programs_in_turns_are_reproduced(number: int) -> None:
    assert line(in_turns.spread_line(number, WEATHERS[number])) in published()
    assert line(in_turns.verdict_line(number, WEATHERS[number])) in published()


def in_turns_of(words: str, columns: int) -> list[str]:
    """Returns the cells of the published line with this number of columns."""
    (found,) = [cells for cells in cells_of(words) if len(cells) == columns]
    return found


def percents(cells: list[str]) -> list[float]:
    return [float(re.findall(r"[\d.]+", cell)[0]) for cell in cells]


def test_the_rule_alarms_less_than_compare_py_on_the_same_times() -> None:
    ((*_, stock),) = cells_of("at least one of them")
    assert percents([stock])[0] > 50
    for _, _, *ours in cells_of("any")[0], cells_of("2 %")[0]:
        counts = [round(p / 100 * stored.RELABELLINGS) for p in percents(ours)]
        assert len(counts) == 3
        assert at_most(max(counts), stored.RELABELLINGS) <= 0.05
    # The actual order of the runs is one of those that a coin may give.
    assert "| REGRESSED |\n" not in published()


@pytest.mark.parametrize("found", WEATHERS, ids=lambda found: found.words)
def test_no_more_than_one_table_of_turns_in_twenty_is_wrong(found: Weather) -> None:
    """And a change of 5 % is found in all rows of nearly all tables."""
    _, *wrong, share, _, _ = in_turns_of(found.words, 7)
    assert len(bounds(wrong)) == 3 and max(bounds(wrong)) <= 5
    assert percents([share])[0] >= 95


@pytest.mark.parametrize("found", WEATHERS[1:7], ids=lambda found: found.words)
def test_turns_cancel_what_whole_processes_do_not(found: Weather) -> None:
    whole, *others, ours = percents(in_turns_of(found.words, 6)[1:])
    assert ours < 0.6 * whole
    assert ours <= 1.1 * min(others)


def test_a_fixed_order_is_a_rhythm() -> None:
    (found,) = percents([in_turns_of("every other turn is slower by 5 %", 7)[6]])
    assert found == 100


GOOD_ROW = [[1.0] * 9] * 4
NO_TABLES: dict[str, dict[str, object]] = {
    "empty": {"rows": {}},
    "numbers": {"rows": {"a": [1, 2]}},
    "processes": {"rows": {"a": GOOD_ROW, "b": GOOD_ROW[1:]}},
    "repetitions": {"rows": {"a": [*GOOD_ROW[1:], [1.0] * 8]}},
    "eight": {"rows": {"a": [[1.0] * 8] * 4}},
    "starts": {"started_s": [0.0]},
    "odd": {"rows": {"a": GOOD_ROW[1:]}, "started_s": [0.0] * 3},
}


def test_what_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document without marks, and samples that make no tables."""
    monkeypatch.chdir(tmp_path)
    plain = tmp_path / "plain.md"
    plain.write_text("nothing", encoding="utf-8")
    good = {"about": {}, "started_s": [0.0] * 4, "rows": {"a": GOOD_ROW}}
    for name, changes in NO_TABLES.items():
        write(tmp_path / name, good | changes)
    files = ("plain.md", "none", *NO_TABLES)
    wrong = ["--into plain.md; --into none", *(f"--samples {name}" for name in files)]
    said = refusals(main, ";".join(wrong), capsys, "tools/calibrate")
    check_golden("errors/calibration.txt", said)
    assert plain.read_text(encoding="utf-8") == "nothing"


def test_the_stored_times_are_forty_processes_of_one_binary() -> None:
    samples = load()
    assert samples.times.shape == (40, 6, 9)
    assert samples.started_s == sorted(samples.started_s)
    assert set(samples.about) >= {"device", "flags", "git_revision", "torch"}


def test_lines_of_histories_are_reproduced() -> None:
    for noise in history.SPREADS[2], history.SPREADS[-1]:
        assert line(history.power_line(noise, 6)) in published()
    assert line(history.bisect_line(0.03, 0.1)) in published()
    words = "simulated: a process shifts all rows alike"
    draw = history.simulated(SCENARIOS[1])
    assert line(history.false_line(words, draw, 2)) in published()
    assert line(history.check_line(1)) in published()


def test_what_histories_report_is_seldom_wrong() -> None:
    """Without a change, at most one report in 100 days of 300 rows; and at least 95 of
    100 searches are right if all commits can be measured."""
    false = [line for line in published().splitlines() if "(≤ 0." in line[-10:]]
    assert len(bounds(false)) == 2 + len(history.NOISES)
    assert max(bounds(false)) <= 1
    assert any("stored times" in each for each in false)
    text = " ".join(published().split())
    most = max(int(each.split(" | ")[1].partition(".")[0]) for each in false)
    assert f"finds up to {most} changes" in text
    searches = [c for c in cells_of("+3 %") + cells_of("+10 %") if len(c) == 5]
    for _, broken, right, _, wrong in searches:
        assert int(wrong) <= 5
        assert int(right) >= 95 or broken != "0 %"
    assert len(searches) == 4
    (known,) = [c for c in cells_of("1 %") if c[1:2] == ["5"]]
    assert float(known[3].split()[0]) >= 90
    (known,) = [c for c in cells_of("2 %") if c[1:2] == ["6"]]
    assert f"{known[3]} of them if six processes differ by 2 %" in text
