# SPDX-License-Identifier: MIT
"""The plots of memory over time."""

from pathlib import Path

import numpy as np
import pytest

from reports.pages.figures.timelines import COLUMNS, decimate, timelines
from reports.results.rows import NotAResult

HEAD = ",".join(COLUMNS) + "\n"
MADE = ",".join(("op", "forward", "1", "ffn", "0", "4x4", "float"))


def test_few_points_and_points_at_one_moment_are_decimated_too() -> None:
    few = np.arange(3.0)
    assert list(decimate(few, few)) == [0, 1, 2]
    still = np.zeros(1000)
    values = np.arange(1000.0)
    assert list(decimate(still, values)) == [0, 999]


def trace(directory: Path, name: str, *events: str) -> None:
    (directory / f"{name}.csv").write_text(HEAD + "\n".join(events) + "\n")


def test_train_steps_come_first_and_what_is_beyond_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.pages.figures.timelines.MOST", 2)
    for mode, seqs in (("forward", range(3)), ("train_step", range(1))):
        for seq in seqs:
            name = f"memory_tiny_fp32_{mode}_batch_4_seq_{seq}"
            trace(tmp_path, name, f"1,5,alloc,5,{MADE}")
    trace(tmp_path, "memory_nothing")
    (tmp_path / "memory_other.pickle").write_text("not a trace")
    figures = timelines(tmp_path)
    assert len(figures) == 2
    assert "train_step, 4 x 0" in figures[0].title
    assert figures[-1].description.endswith("2 further timelines are not shown.")
    assert "further" not in figures[0].description


LINES = (
    *(f"{pair},alloc,1,{MADE}\n" for pair in ("x,y", "nan,2", "1,inf", "1,-2")),
    *('"1,2', "1,2\n", f"1,2,alloc,1,{MADE},0\n", "1" * (1 << 18)),
    f"1,2,alloc,1,{MADE}\n".replace("forward,1", f"forward,{10**30}"),
)


@pytest.mark.parametrize(
    "content", ["", "a,b\n1,2\n", *(HEAD + line for line in LINES)]
)
def test_what_is_no_trace_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "memory_bad.csv").write_text(content)
    with pytest.raises(NotAResult, match=r"memory_bad\.csv: "):
        timelines(tmp_path)
