# SPDX-License-Identifier: MIT
"""The list of the paper suite is as its generator writes it."""

from pathlib import Path

import make_paper_suite
from case_patterns import compress, expand, unwrapped, wrapped

ROOT = Path(__file__).resolve().parents[2]


def test_the_committed_list_is_what_the_generator_writes() -> None:
    text = make_paper_suite.PATH.read_text(encoding="utf-8")
    assert text == make_paper_suite.text_of(*make_paper_suite.read())
    assert f"#   {make_paper_suite.COMMAND}\n" in text
    script = Path(make_paper_suite.__file__).resolve()
    assert str(script.relative_to(ROOT)) in make_paper_suite.COMMAND.split()


def test_braces_stand_for_every_combination() -> None:
    assert expand("a/{b,c}/x:{0..2}") == [
        *("a/b/x:0", "a/b/x:1", "a/b/x:2"),
        *("a/c/x:0", "a/c/x:1", "a/c/x:2"),
    ]


def test_patterns_stand_for_the_names_and_no_others() -> None:
    names = [
        *("e/a/x:1/y:8", "e/a/x:2/y:8", "e/b/x:1/y:8", "e/b/x:2/y:8", "e/b/x:3/y:8"),
        *("e/c", "e/a/x:10", "e/a/x:11", "e/a/x:12", "f/2.7B/n:1"),
    ]
    patterns = compress(names)
    found = [name for pattern in patterns for name in expand(pattern)]
    assert sorted(found) == sorted(names)
    assert len(patterns) <= 5
    assert "e/a/x:{10..12}" in patterns
    assert compress(reversed(names)) == patterns
    assert compress([]) == []


def test_a_long_pattern_is_read_back() -> None:
    pattern = f"e/{{{','.join(f'word{n}' for n in range(40))}}}/x:1"
    lines = wrapped(pattern).splitlines()
    assert len(lines) > 3 and max(map(len, lines)) <= 88
    assert unwrapped("# why\n\n" + wrapped(pattern) + "\n") == [pattern]
