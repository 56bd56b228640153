# SPDX-License-Identifier: MIT
"""Every defect of JSON is found, wherever a file may have it, and said in a line."""

from pathlib import Path

import pytest

from reports.results import strict_json
from reports.results.strict_json import NotJson, load, parse

DOCUMENT = '{"a": [1, -2.5e-07, 3E+8, true, null], "b\\u00e4": "c\\n\\"d", "e": {}}'


def test_a_whole_document_is_read() -> None:
    assert parse(DOCUMENT)["a"][:3] == [1, -2.5e-07, 3e8]
    assert parse(r'"\ud83d\ude00"') == "\U0001f600"


@pytest.mark.parametrize("length", range(1, len(DOCUMENT)))
def test_wherever_a_document_is_cut_it_breaks_off(length: int) -> None:
    with pytest.raises(NotJson, match="breaks off"):
        parse(DOCUMENT[:length])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "it cannot be read: No such file"),
        (b"", "it is empty"),
        (b"\xff\xfe", "it is no text"),
        (b'{"a": 1 "b": 2}', r"it is no JSON \(line 1, column 9"),
        (b'{"a" 1, "b": 2}', r"it is no JSON \(line 1, column 6"),
        (b"[1, 2}]", r"it is no JSON \(line 1, column 6"),
        (b"[NaN]", "it holds NaN, which is no number"),
        (b"[-Infinity]", "it holds -Infinity"),
        (b"9" * 5000, "it holds a whole number of too many digits"),
        (b"[" * 100_000, "it is nested too deeply"),
        (rb'"\ud800"', "it holds half of a surrogate pair"),
    ],
)
def test_a_file_that_is_no_json(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NotJson, match=rf"^{words}[^\n]*$"):
        load(path)


def test_a_file_without_an_end_is_not_read_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(strict_json, "MOST_BYTES", 1 << 20)
    with pytest.raises(NotJson, match="it has more than 1 MiB"):
        load(Path("/dev/zero"))
