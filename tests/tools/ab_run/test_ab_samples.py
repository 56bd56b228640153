# SPDX-License-Identifier: MIT
"""The samples of a process, as the program logs them."""

import json
from pathlib import Path
from typing import Any

import pytest

from reports.compare.ab_times import Samples, load
from reports.results.records import NotAResult

LINE: dict[str, Any] = {"name": "e", "repetition": 1, "samples_us": [1, 2, 9]}


def loaded(folder: Path, *lines: str) -> list[Samples]:
    path = folder / "a.samples.jsonl"
    path.write_text("".join(line + "\n" for line in lines))
    return load(path)


def test_the_median_of_a_thinned_line_is_that_of_all_samples(tmp_path: Path) -> None:
    thin = {"every": 2, "count": 5, "median_us": 4}
    whole, thinned = loaded(tmp_path, json.dumps(LINE), json.dumps(LINE | thin))
    assert (whole.name, whole.repetition, whole.median_us) == ("e", 1, 2)
    assert thinned.median_us == 4 and thinned.samples_us == [1, 2, 9]
    (even,) = loaded(tmp_path, json.dumps(LINE | {"samples_us": [1.5, 2]}))
    assert even.median_us == 1.75


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (json.dumps(LINE)[:20], "it breaks off"),
        (json.dumps(LINE | {"samples_us": []}), "samples_us is []; allowed: a"),
        (json.dumps(LINE | {"repetition": -1}), "repetition is -1"),
        (json.dumps(LINE | {"every": 2}), "it lacks median_us"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, words: str) -> None:
    with pytest.raises(NotAResult) as raised:
        loaded(tmp_path, json.dumps(LINE), line)
    path = tmp_path / "a.samples.jsonl"
    assert str(raised.value).startswith(f"{path}, line 2: {words}")
