# SPDX-License-Identifier: MIT
"""Writing and reading the file of a noise floor."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from reports.compare.decision import RowNoise
from reports.compare.intervals import Pair
from reports.compare.noise import NoiseFile, load_noise, noise_of_rows, save_noise

NOISE = NoiseFile(
    {"host_name": "h"}, {"a/x:1": RowNoise(0.01, 0.02, 20, 0.3)}, "c0ffee"
)


def document() -> dict[str, Any]:
    return {
        "kind": "trainbench noise floor",
        "version": 1,
        "context": {"host_name": "h"},
        "revision": "c0ffee",
        "rows": {"a/x:1": {"floor": 0.01, "spread": 0.02, "pairs": 20, "reach": 0.3}},
    }


def test_what_is_written_is_what_is_documented(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "noise.json"
    save_noise(NOISE, path)
    assert json.loads(path.read_text()) == document()
    assert load_noise(path) == NOISE


def test_the_noise_of_rows() -> None:
    steps = (-4, -2, -1, 0, 1, 2, 3)
    calm = [Pair(math.log(1 + step / 1000)) for step in steps]
    times = {"calm": [100.0, 110.0] * 7, "few": [1.0, 2.0]}
    found = noise_of_rows({"calm": calm, "few": [Pair(0.0)]}, times, 0.05)
    assert list(found) == ["calm"]
    row = found["calm"]
    assert row.floor == pytest.approx(1 / 0.996 - 1)  # so log 0.996 is within
    assert row.pairs == 7
    # For two values x and y, the sample's deviation is |x - y| / 2 sqrt(14 / 13).
    expected = math.sqrt(2) * math.log(1.1) / 2 * math.sqrt(14 / 13)
    assert row.spread == pytest.approx(expected)
    assert row.reach == pytest.approx(math.log(1.1))
