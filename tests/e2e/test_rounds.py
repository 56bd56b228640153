# SPDX-License-Identifier: MIT
"""Cases with several visits, in one process or in several."""

import re

import pytest

from program import NANO, OUT, SAMPLES, Program, measured, names, without
from reports.answers.measured import time_of
from reports.results.result_file import parse

FLAGS = (
    *(*without(NANO, "--benchmark_min_time"), "--max_case_seconds=1"),
    *("--benchmark_filter=^implementations/.*/fp32/", OUT, SAMPLES),
)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (
            "--suite=smoke",
            "rounds=1 min_time=0.1 warmup=auto samples=auto cpu_allocator=caching",
        ),
        ("--suite=quick", "rounds=3 min_time=0.3 max_case_seconds=3.5"),
        ("--suite=quick --max_case_seconds=30", "min_time=0.3 max_case_seconds=30"),
        ("--suite=full", "rounds=6 min_time=1.5"),
        (
            "--suite=full --samples=10 --warmup=3",
            "rounds=1 min_time=1 max_case_seconds=30 warmup=3 samples=10",
        ),
        ("--suite=smoke --cpu_allocator=system", "cpu_allocator=system"),
    ],
)
def test_the_context_says_how_it_is_measured(
    trainbench: Program, flags: str, expected: str
) -> None:
    # No CPU has this row, so the run takes no time.
    graph = "--benchmark_filter=^cuda_graph/graph/tiny/"
    context = trainbench.measure(*flags.split(), graph)["context"]
    allocator = f"cpu_allocator={context['cpu_allocator']}"
    assert {*expected.split()} <= {*context["sampling"].split(), allocator}


def test_each_round_visits_all_and_families_take_turns(trainbench: Program) -> None:
    done = trainbench.run(*FLAGS, "--rounds=3")
    document = trainbench.result()
    rows = measured(document)
    assert len(rows) >= 3 and all(row["visits"] == 3 for row in rows)
    assert len({turns["family"] for turns in document["turns"]}) == 1
    assert len({len(turns["us"]) for turns in document["turns"]}) == 1
    for row in rows[1:]:
        assert 0 < row["time_ratio_low"] <= row["time_ratio"] <= row["time_ratio_high"]
    for row in rows:
        assert row["min_us"] <= row["p50_low_us"] <= row["p50_us"] <= row["p50_high_us"]
    found = re.findall(r"^(\S+): [\d.]+ [mu]?s in its first visit$", done.stderr, re.M)
    assert sorted(found) == sorted(names(rows))
    for line, row in zip(trainbench.samples(), rows, strict=True):
        assert sum(line["visit_sizes"]) == len(line["samples_us"]) == row["samples"]
    first, second, *_ = parse(document).rows
    assert (time_of(second) / time_of(first)).is_fair


def test_each_process_is_a_repetition(trainbench: Program) -> None:
    done = trainbench.run(*FLAGS, "--processes=2")
    document = trainbench.result()
    rows = measured(document)
    indices = [row["repetition_index"] for row in rows]
    assert indices == [0, 1] * (len(rows) // 2)
    assert document["context"]["processes"] == "2"
    kinds = {row.get("aggregate_name") for row in document["benchmarks"]}
    assert {"mean", "median", "stddev"} <= kinds
    by_repetition: dict[int, set[int]] = {}
    for line in trainbench.samples():
        by_repetition.setdefault(line["repetition"], set()).add(line["process_id"])
    # All rows form one family, with one process per visit.
    assert [len(ids) for ids in by_repetition.values()] == [1, 1]
    assert by_repetition[0] != by_repetition[1]
    # Each case has one line in the table.
    name = rows[0]["name"]
    assert sum(line.startswith(f"{name} ") for line in done.stdout.splitlines()) == 1


def test_a_process_repeats_a_pass_in_each_round(trainbench: Program) -> None:
    step = "--benchmark_filter=^breakdown/nano/fp32/train_step/step/all/"
    flags = ("--suite=full", "--mode=train_step", "--rounds=3", "--processes=1", step)
    (row,) = measured(trainbench.measure(*without(NANO, "--suite"), *flags))
    assert row["visits"] == 3
    assert row["p50_low_us"] <= row["p50_us"] <= row["p50_high_us"]
