# SPDX-License-Identifier: MIT
"""The samples of a process, as the program logs them."""

from pathlib import Path

import pytest

from reports.compare.ab_samples import load
from reports.results.checked_entry import NotAResult


def logged(folder: Path, line: str) -> Path:
    path = folder / "a.samples.jsonl"
    path.write_text(line + "\n")
    return path


def test_the_median_of_a_thinned_line_is_that_of_all_samples(tmp_path: Path) -> None:
    (whole,) = load(
        logged(tmp_path, '{"name": "e", "repetition": 1, "samples_us": [1, 2, 9]}')
    )
    assert (whole.row, whole.repetition, whole.median_us) == ("e", 1, 2)
    (thinned,) = load(
        logged(
            tmp_path,
            '{"name": "e", "repetition": 0, "every": 2, "count": 5, "median_us": 4,'
            ' "samples_us": [1, 2, 9]}',
        )
    )
    assert thinned.median_us == 4 and thinned.times_us == [1, 2, 9]


def test_a_thinned_line_without_its_median_is_damaged(tmp_path: Path) -> None:
    path = logged(
        tmp_path, '{"name": "e", "repetition": 0, "every": 2, "samples_us": [1]}'
    )
    with pytest.raises(NotAResult, match="line 1: it lacks median_us"):
        load(path)
