# SPDX-License-Identifier: MIT

import pytest

from reports.results.strict_json import NotJson, parse

DOCUMENT = '{"a": [1, -2.5e-07, 3E+8, true, null], "b\\u00e4": "c\\n\\"d", "e": {}}'


def test_a_whole_document_is_read() -> None:
    assert parse(DOCUMENT)["a"][:3] == [1, -2.5e-07, 3e8]


@pytest.mark.parametrize("length", range(1, len(DOCUMENT)))
def test_wherever_a_document_is_cut_it_breaks_off(length: int) -> None:
    with pytest.raises(NotJson, match="breaks off"):
        parse(DOCUMENT[:length])


@pytest.mark.parametrize("text", ['{"a": 1 "b": 2}', '{"a" 1, "b": 2}', "[1, 2}]"])
def test_a_document_that_is_wrong_says_where(text: str) -> None:
    with pytest.raises(NotJson, match=r"line 1, column \d+"):
        parse(text)
