# SPDX-License-Identifier: MIT
"""The paper suite has every configuration of the published write-ups."""

import itertools
import re
from pathlib import Path

import pytest

from program import Program

NATIVE = "native_bf16: "
PATTERNS = Path(__file__).resolve().parents[1] / "data" / "paper_suite.txt"


def expand(pattern: str) -> list[str]:
    """Every text that the pattern's braces stand for."""

    def choices(part: str) -> list[str]:
        if not part.startswith("{"):
            return [part]
        body = part[1:-1]
        if span := re.fullmatch(r"(\d+)\.\.(\d+)", body):
            return [str(n) for n in range(int(span[1]), int(span[2]) + 1)]
        return body.split(",")

    parts = re.findall(r"\{[^}]*\}|[^{}]+", pattern)
    return ["".join(text) for text in itertools.product(*map(choices, parts))]


def patterns() -> list[str]:
    found: list[str] = []
    for line in PATTERNS.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            found[-1] += line.strip()
        else:
            found.append(line.strip())
    return found


def test_braces_stand_for_every_combination() -> None:
    assert expand("a/{b,c}/x:{0..2}") == [
        *("a/b/x:0", "a/b/x:1", "a/b/x:2"),
        *("a/c/x:0", "a/c/x:1", "a/c/x:2"),
    ]


@pytest.fixture
def listed(trainbench: Program) -> list[str]:
    done = trainbench.run("--suite=paper", "--benchmark_list_tests")
    assert done.code == 0, done.err
    return done.out.splitlines()


def test_the_paper_suite_is_as_expected(listed: list[str]) -> None:
    assert len(set(listed)) == len(listed)
    expected, native = set[str](), set[str]()
    for pattern in patterns():
        rows = native if pattern.startswith(NATIVE) else expected
        names = set(expand(pattern.removeprefix(NATIVE)))
        assert not names & (expected | native), f"{pattern} repeats a row"
        rows |= names
    assert native
    # All of the rows that need bf16 instructions, or none.
    if native & set(listed):
        expected |= native
    assert sorted(expected - set(listed)) == []
    assert sorted(set(listed) - expected) == []


@pytest.mark.parametrize("ranks", [4, 6])
def test_more_ranks_sum_a_gigabyte_where_a_flag_asks_for_them(
    trainbench: Program, ranks: int
) -> None:
    done = trainbench.run(
        "--suite=paper",
        f"--ranks={ranks}",
        "--benchmark_filter=^all_reduce/gloo/",
        "--benchmark_list_tests",
    )
    assert done.code == 0, done.err
    listed = done.out.splitlines()
    assert f"all_reduce/gloo/ranks:{ranks}/bytes:1000000000" in listed
