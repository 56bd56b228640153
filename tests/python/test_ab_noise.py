# SPDX-License-Identifier: MIT
"""The file of a noise floor."""

import json
from pathlib import Path
from typing import Any

import pytest
from reports.compare.decision import RowNoise
from reports.compare.noise import NoiseFile, NotANoiseFloor, load_noise, save_noise

NOISE = NoiseFile({"host_name": "h"}, {"a/x:1": RowNoise(0.01, 0.02, 20)}, "c0ffee")


def document() -> dict[str, Any]:
    return {
        "kind": "trainbench noise floor",
        "version": 1,
        "context": {"host_name": "h"},
        "revision": "c0ffee",
        "rows": {"a/x:1": {"floor": 0.01, "spread": 0.02, "pairs": 20}},
    }


def test_what_is_written_is_what_is_documented(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "noise.json"
    save_noise(NOISE, path)
    assert json.loads(path.read_text()) == document()
    assert load_noise(path) == NOISE


def row(**changes: Any) -> dict[str, Any]:
    whole = document()
    whole["rows"]["a/x:1"] |= changes
    return whole


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({}, "no noise floor: KeyError"),
        ([], "no noise floor"),
        (document() | {"kind": "x"}, "its kind is 'x'"),
        (document() | {"version": 2}, "its version is 2, expected 1"),
        (document() | {"rows": []}, "no noise floor"),
        (document() | {"rows": {"a": {"floor": 1}}}, "no noise floor: KeyError"),
        (row(floor="1"), "floor is '1', expected a number"),
        (row(floor=True), "floor is True, expected a number"),
        (row(spread=float("nan")), "spread is nan, expected a finite number"),
        (row(floor=-0.1), "floor is -0.1, expected a finite number >= 0"),
    ],
)
def test_damaged_files(tmp_path: Path, content: Any, words: str) -> None:
    path = tmp_path / "noise.json"
    path.write_text(json.dumps(content))
    with pytest.raises(NotANoiseFloor) as raised:
        load_noise(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [None, b"", b"{", b"\xff\xfe"])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "noise.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NotANoiseFloor):
        load_noise(path)
