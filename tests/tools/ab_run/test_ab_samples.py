# SPDX-License-Identifier: MIT
"""The samples of a process, as the program logs them."""

import json
from pathlib import Path
from typing import Any

import pytest

from reports.compare.ab_times import turns_of
from reports.results.records import NotAResult

LINE: dict[str, Any] = {"name": "e", "repetition": 1, "samples_us": [1, 2, 9]}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (json.dumps(LINE)[:20], "it breaks off"),
        (json.dumps(LINE | {"samples_us": []}), "samples_us is []; allowed: a"),
        (json.dumps(LINE | {"repetition": -1}), "repetition is -1"),
        (json.dumps(LINE | {"turn_us": "1"}), "turn_us is '1'; allowed: a list"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "a.samples.jsonl"
    path.write_text(f"{json.dumps(LINE)}\n{line}\n")
    with pytest.raises(NotAResult) as raised:
        turns_of(path)
    assert str(raised.value).startswith(f"{path}, line 2: {words}")
