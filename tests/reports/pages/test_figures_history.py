# SPDX-License-Identifier: MIT
"""The history of a machine, from handmade results."""

import re
from typing import Any

from figures import gids, texts
from reports.pages.figures.history import history, table
from reports.results.rows import Failure, Result, Row, load
from results import REFERENCE


def run(revision: str, times: dict[str, float], **more: Any) -> Result:
    context = {"git_dirty": more.get("dirty", "false")}
    context |= {"git_revision": revision * 40} if revision else {}
    rows = [Row(name, time, {}, {}, {}) for name, time in times.items()]
    return Result(context, rows, more.get("skipped", []), more.get("errors", []), True)


def test_each_file_has_a_column_with_its_revision() -> None:
    headings, lines = table(
        [
            run("a", {"e/x": 10}),
            run("", {"e/x": 2e6}),
            run("b", {"e/x": 30}, dirty="true"),
            run("b", {"e/x": 20}, dirty="true"),
            run("c", {"e/x": 4}),
        ]
    )
    assert headings == [
        *("case", "aaaaaaa", "unknown", "bbbbbbb+", "bbbbbbb+ (2)", "ccccccc"),
        "last / first",
    ]
    assert lines == [["e/x", "10 us", "2 s", "30 us", "20 us", "4 us", "0.4"]]


def test_the_table_drops_nothing() -> None:
    _, lines = table(
        [
            run("a", {"e/x": 10, "e/gone": 5, "e/zero": 0}),
            run(
                "b",
                {"e/x": 20, "e/new": 7, "e/zero": 1},
                skipped=[Failure("e/big", "does not fit")],
                errors=[
                    Failure("e/gone", "wrong"),
                    Failure("e/x", "in one repetition"),
                ],
            ),
        ]
    )
    assert lines == [
        ["e/x", "10 us", "20 us", "2"],
        ["e/gone", "5 us", "error", "-"],
        ["e/zero", "0 ns", "1 us", "-"],
        ["e/new", "-", "7 us", "-"],
        ["e/big", "-", "skipped", "-"],
    ]


def test_an_experiment_is_the_geometric_mean_of_rows_that_all_have() -> None:
    experiments, moved = history(
        [
            run("a", {"e/x": 10, "e/y": 10, "f/z": 4, "f/gone": 9}),
            run("b", {"e/x": 20, "e/y": 80, "f/z": 2, "f/new": 9}),
        ]
    )
    labels = texts(experiments.svg)
    assert {"x 4.000 e (2 rows)", "x 0.500 f (1 row)"} <= set(labels)
    assert {"aaaaaaa", "bbbbbbb"} <= set(labels)
    assert any("(left out: 2 of 5 rows not in every file)" in x for x in labels)
    assert gids(experiments.svg, "line-") == ["line-0", "line-1"]
    named = [line for line in texts(moved.svg) if line.startswith("x ")]
    assert named == ["x 8.000 e/y", "x 2.000 e/x", "x 0.500 f/z"]


def test_the_rows_that_moved_most_are_named_and_others_counted() -> None:
    first = {f"e{i}/x": 10.0 for i in range(12)}
    last = {f"e{i}/x": 10.0 * (1 + i) for i in range(12)}
    experiments, moved = history([run("a", first), run("b", last)])
    assert "4 more" in texts(experiments.svg)
    named = [line for line in texts(moved.svg) if line.startswith("x ")]
    assert named[0] == "x 12.000 e11/x" and len(named) == 8
    assert moved.description.startswith("The 8 of 12 rows")
    assert "x 1.000 e0" in experiments.description


def test_a_file_without_rows_and_a_time_of_zero_are_said() -> None:
    runs = [
        run("a", {"e/x": 10, "e/none": 0}),
        run("b", {}),
        run("c", {"e/x": 20, "e/none": 0}),
    ]
    labels = texts(history(runs)[0].svg)
    assert "bbbbbbb" not in labels and "x 2.000 e (1 row)" in labels
    left_out = "(left out: 1 without any time, 1 files without any row)"
    assert any(left_out in label for label in labels)


def test_many_rows_over_many_files_stay_small() -> None:
    times = {f"e{i % 17}/case:{i}": 10.0 + i for i in range(200)}
    runs = [
        run("abc"[day % 3], {name: t * (1 + day % 5) for name, t in times.items()})
        for day in range(30)
    ]
    figures = history(runs)
    assert all(len(figure.svg) < 100_000 for figure in figures)
    headings, lines = table(runs)
    assert (len(headings), len(lines)) == (32, 200)


def test_what_cannot_be_compared_has_no_figure() -> None:
    base = run("a", {"e/x": 10})
    assert history([]) == [] and history([base]) == []
    assert history([base, run("b", {"e/y": 10})]) == []
    assert history([base, run("b", {})]) == []
    assert history([run("a", {}), run("b", {})]) == []
    assert table([]) == (["case", "last / first"], [])


def test_the_reference_run_with_itself_has_not_moved() -> None:
    reference = load(REFERENCE)
    experiments, _ = history([reference, reference])
    assert re.search(r"x 1\.000 ddp \(\d+ rows\)", experiments.description)
    headings, lines = table([reference, reference])
    revision = reference.context["git_revision"][:7]
    assert headings[1:3] == [revision, f"{revision} (2)"]
    measured = {row.name for row in reference.rows}
    assert sorted(line[0] for line in lines) == sorted(reference.names)
    assert {line[-1] for line in lines if line[0] in measured} == {"1"}
    assert {line[1] for line in lines if line[0] not in measured} <= {"skipped"}
