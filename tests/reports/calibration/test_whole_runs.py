# SPDX-License-Identifier: MIT
"""The agreement of whole runs, and its table."""

import math
from pathlib import Path

import pytest

from reports.calibration.main import main
from reports.calibration.whole_runs import RATIO, TIME, agreement
from reports.results.refused import Refused
from reports.results.rows import Result, Row
from results import document, entry, result_of, write


def run(**times: tuple[float, float, float]) -> Result:
    """Returns a run with rows of these times, and the ends of their intervals."""
    rows = []
    for name, (low, us, high) in times.items():
        ends = {"p50_us": us, "p50_low_us": low, "p50_high_us": high}
        ratio = {"time_ratio": us, "time_ratio_low": low, "time_ratio_high": high}
        rows.append(Row(name, us, {}, {}, ends | (ratio if name == "b" else {})))
    return result_of(*rows)


def test_runs_agree_if_their_ratio_may_be_one() -> None:
    first = run(a=(9, 10, 11), b=(1, 2, 3))
    second = run(a=(11, 12, 13), b=(4, 5, 6), only=(1, 1, 1))
    third = run(a=(12, 20, 30), b=(2, 2, 4))
    found = agreement([first, second, third], TIME)
    assert found is not None and found.pairs == 6
    # 2-3 for a, 1-3 for b. The intervals of 1-2 for a and of 2-3 for b only touch.
    assert found.consistent == pytest.approx(2 / 6)
    assert found.moves.max() == pytest.approx(math.log(5 / 2))
    assert found.move(0) == 0
    ratios = agreement([first, second, third], RATIO)
    assert ratios is not None and ratios.pairs == 3
    assert ratios.half_widths.max() == 0.5
    assert agreement([first], TIME) is None


def test_the_table_has_the_goals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [
        str(write(tmp_path / f"{i}.json", document(entry("a/b", us, half_width=0.1))))
        for i, us in enumerate((10, 10.5))
    ]
    assert main(["--runs", *paths]) == 0
    told = capsys.readouterr().out
    assert "2 runs" in told and "100 %" in told and "at least 90 %" in told
    assert "ratios" not in told
    with pytest.raises(Refused, match="no two results"):
        main(["--runs", paths[0]])
    with pytest.raises(Refused, match="none"):
        main(["--runs", paths[0], str(tmp_path / "none")])
