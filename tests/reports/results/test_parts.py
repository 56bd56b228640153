# SPDX-License-Identifier: MIT
"""Several files of one run are read as one."""

from pathlib import Path
from typing import Any

from reports.results.parts import runs
from reports.results.rows import TIME, Result
from results import at, entry, failure, parsed


def result(
    *names: str, shard: str = "", second: int = 0, us: float = 5.0, **others: Any
) -> Result:
    context = at(second) | others.pop("context", {})
    if shard:
        context["shard"] = shard
    entries = [entry(name, us) for name in names]
    return parsed(*entries, context=context, **others)


def merged(*results: Result, calls: bool = False) -> list[Result]:
    files = {Path(f"{i}.json"): result for i, result in enumerate(results)}
    return list(runs(files, calls).values())


def row_names(result: Result) -> list[str]:
    return [row.name for row in result.rows]


def test_the_shards_of_a_cut_are_one_run() -> None:
    (whole,) = merged(
        result("peak", "b", shard="2/2", second=9, us=7),
        result("peak", "a", shard="1/2", second=3, us=5),
    )
    assert row_names(whole) == ["peak", "b", "a"]
    assert whole.rows[0].time_us == 6, "the median of the parts' peaks"
    assert whole.complete
    assert whole.started == result(second=3).started
    assert "shard" not in whole.context


def test_a_cut_with_a_part_missing_is_not_complete() -> None:
    (part,) = merged(result("a", shard="1/3"), result("c", shard="3/3"))
    assert not part.complete
    assert part.context["shard"] == "1/3, 3/3"


def test_a_failure_is_named_once_and_not_where_another_part_has_the_row() -> None:
    (whole,) = merged(
        result(
            "a",
            shard="1/2",
            errors=[failure("peak", "noise")],
            skipped=[failure("big", "does not fit")],
        ),
        result("peak", shard="2/2", skipped=[failure("big", "does not fit")]),
    )
    assert row_names(whole) == ["a", "peak"]
    assert not whole.errors
    assert [skip.name for skip in whole.skipped] == ["big"]
    (whole,) = merged(result("a", errors=[failure("a", "in a later process")]))
    assert whole.names == ["a"]
    assert [error.name for error in whole.errors] == ["a"]


def test_the_processes_of_shards_are_joined_one_by_one() -> None:
    processes = {"processes": "3"}
    (whole,) = merged(
        result(*["peak"] * 3, shard="1/2", us=5, context=dict(processes)),
        result(*["peak"] * 3, shard="2/2", us=7, context=dict(processes)),
    )
    assert whole.rows[0].each[TIME] == (6, 6, 6)
    assert whole.rows[0].repetitions == 3


def test_other_circumstances_and_other_cuts_are_other_runs() -> None:
    one = result("a", shard="1/2")
    assert len(merged(one, result("b", shard="2/3"))) == 2
    assert len(merged(one, result("b", shard="2/2", context={"seed": "7"}))) == 2
    assert len(merged(one, result("b"))) == 2
    for key in ("host_name", "memory_bytes", "device_memory_bytes"):
        assert len(merged(one, result("b", shard="2/2", context={key: "1"}))) == 1


def test_calls_with_other_filters_are_one_run_where_that_is_asked_for() -> None:
    calls = result("a", "b"), result("c", second=9)
    assert len(merged(*calls)) == 2
    (whole,) = merged(*calls, calls=True)
    assert row_names(whole) == ["a", "b", "c"]
    assert len(merged(*calls, result("c", second=20), calls=True)) == 2
    other = result("d", context={"models": "name=mine,d_model=64"})
    assert len(merged(*calls, other, calls=True)) == 2
