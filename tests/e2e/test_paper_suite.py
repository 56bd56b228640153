# SPDX-License-Identifier: MIT
"""The paper suite has every configuration of the published write-ups."""

import sys
from pathlib import Path

import pytest

from program import Program

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "data"))

import make_paper_suite


def experiment_of(name: str) -> str:
    return name.partition("/")[0]


def listed(trainbench: Program, *flags: str) -> list[str]:
    done = trainbench.run("--suite=paper", *flags, "--benchmark_list_tests")
    return done.out.splitlines()


def test_the_paper_suite_is_as_its_list(trainbench: Program) -> None:
    """After an intended change, run the command at the head of the list."""
    found = listed(trainbench)
    assert len(set(found)) == len(found)
    expected, native = make_paper_suite.read()
    assert native
    # Either all rows that need bf16 instructions are listed, or none.
    if native & set(found):
        expected |= native
    assert sorted(expected - set(found)) == []
    # An experiment that the list does not have yet does not belong to the write-ups.
    known = {experiment_of(name) for name in expected}
    new = {name for name in set(found) - expected if experiment_of(name) in known}
    assert sorted(new) == []


@pytest.mark.parametrize("ranks", [4, 6])
def test_more_ranks_sum_a_gigabyte_where_a_flag_asks_for_them(
    trainbench: Program, ranks: int
) -> None:
    flags = (f"--ranks={ranks}", "--benchmark_filter=^all_reduce/gloo/")
    found = listed(trainbench, *flags)
    assert f"all_reduce/gloo/ranks:{ranks}/bytes:1000000000" in found
