# SPDX-License-Identifier: MIT
"""Every defect of JSON is found, wherever it is, and reported in one line."""

from pathlib import Path

import pytest

from reports.results import records
from reports.results.records import NotAResult, parse, read

DOCUMENT = '{"a": [1, -2.5e-07, 3E+8, true, null], "b\\u00e4": "c\\n\\"d", "e": {}}'


@pytest.mark.parametrize("length", range(1, len(DOCUMENT)))
def test_wherever_a_document_is_cut_it_breaks_off(length: int) -> None:
    with pytest.raises(NotAResult, match="breaks off"):
        parse(DOCUMENT[:length].encode())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "it cannot be read: No such file"),
        (b"", "it is empty"),
        (b"\xff\xfe", r"it is not JSON: .* \(byte 0\)"),
        (b'"\xff"', "it is not JSON: 'utf-8' codec"),
        (b'{"a": 1 "b": 2}', r"it is not JSON: .* expected .* \(byte 8\)"),
        (b"[1, 2}]", r"it is not JSON: .* \(byte 5\)"),
        (b"[NaN]", "it contains NaN, which is not a number"),
        (b"[1e999]", "it is not JSON: Number out of range"),
        (b"9" * 5000, "it is not JSON: Integer value out of range"),
        (b"[" * 100_000, "it is nested too deeply"),
        (rb'"\ud800"', "it breaks off"),
    ],
)
def test_a_file_that_is_no_json(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NotAResult, match=rf"^{words}[^\n]*$"):
        parse(read(path))


def test_a_file_without_an_end_is_not_read_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(records, "MOST_BYTES", 1 << 20)
    with pytest.raises(NotAResult, match="it has more than 1 MiB"):
        read(Path("/dev/zero"))
