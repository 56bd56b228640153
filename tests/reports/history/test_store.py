# SPDX-License-Identifier: MIT
"""Each result is stored once, whoever writes it, and is read back as points."""

from multiprocessing import get_context
from pathlib import Path

import pytest
from msgspec.msgpack import encode

from histories import add, result
from reports.history.commits import Commit
from reports.history.index import Entry, load
from reports.history.series import Series, series_of
from reports.history.store import INDEX, Store, fingerprint
from reports.results.records import NotAResult
from reports.results.refused import Refused
from results import failure, write

A, B = "a" * 40, "b" * 40
LINE = [Commit(revision, "2026-01-01", "") for revision in (A, B)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def entries_of(store: Store) -> list[Entry]:
    """Loads a store without damaged results."""
    return load(store, left_out=pytest.fail)


def all_series(store: Store) -> list[Series]:
    return series_of(entries_of(store), LINE)


def times(store: Store) -> list[list[float]]:
    """Returns the medians of the row of each series."""
    return [series.times[0, 0].tolist() for series in all_series(store)]


def test_a_result_is_added_once(store: Store, tmp_path: Path) -> None:
    first = add(store, tmp_path, result(A, {"e/row": [1]}))
    assert add(store, tmp_path, result(A, {"e/row": [1]})) == first
    assert first.name.startswith("20260101T000000-aaaaaaaaaaaa-")
    assert len(store.files()) == 1


def test_a_point_has_all_processes_of_its_commit(store: Store, tmp_path: Path) -> None:
    content = result(A, {"e/row": [1, 2, 3], "e/one": [9]})
    for each, flops in zip(content["benchmarks"], (8, 9, 7, 1), strict=True):
        each["flops"] = flops
    add(store, tmp_path, content)
    add(store, tmp_path, result(A, {"e/row": [4, 5, 16, 17], "e/few": [1, 2, 4, 8]}, 9))
    (series,) = all_series(store)
    assert series.time(0, 0) == (4, 1, 17), "the interval of the median of 7"
    assert series.time(1, 0) == (9, 9, 9)
    assert series.time(2, 0) == (3, 1, 8), "the range of a few"
    assert [len(rows) for rows in series.exact[0].values()] == [2, 1, 1]
    assert series.exact[0]["e/row"][0].each == {"flops": (7, 8, 9)}
    assert [len(series.comparable(row)) for row in range(3)] == [1, 0, 0]


def test_a_wrong_row_is_no_point(store: Store, tmp_path: Path) -> None:
    content = result(A, {"e/row": [1], "e/good": [1]}, errors=[failure("e/bad", "nan")])
    content["skipped"] = [failure("e/out", "no")]
    content["benchmarks"][0]["findings"] = {"wrong": "loss"}
    add(store, tmp_path, content)
    (series,) = all_series(store)
    assert series.rows == ["e/good"]
    reasons = [(each.name, each.reason) for each in series.failures[0]]
    wrong = ("e/row", "wrong result: loss")
    assert reasons == [("e/out", "no"), ("e/bad", "nan"), wrong]


@pytest.mark.parametrize(
    ("context", "named"),
    [
        ({"git_revision": "unknown"}, "git_revision is 'unknown'"),
        ({"git_dirty": "true"}, "git_dirty is true"),
        ({"date": ""}, "it has no date"),
        ({"device_kind": "predicted_cuda"}, "its times are predicted"),
    ],
)
def test_what_no_commit_has_made_is_refused(
    store: Store, tmp_path: Path, context: dict[str, str], named: str
) -> None:
    with pytest.raises(NotAResult, match=named):
        add(store, tmp_path, result(A, {"e/row": [1]}, context=context))
    with pytest.raises(NotAResult, match="it has no rows"):
        add(store, tmp_path, result(A, {}))
    assert store.files() == []


def test_a_series_is_one_of_the_same_models_and_stored_ones_go_on() -> None:
    assert fingerprint({"models": ""}) == "5dba01cd73ff"
    assert fingerprint({"models": "name=tiny,d_model=64"}) != "5dba01cd73ff"


def test_a_damaged_result_is_named_and_the_others_are_read(
    store: Store, tmp_path: Path
) -> None:
    add(store, tmp_path, result(A, {"e/row": [1]}))
    broken = add(store, tmp_path, result(B, {"e/row": [2]}))
    broken.write_text("{")
    damaged: list[str] = []
    entries = load(store, damaged.append)
    assert [entry.context["git_revision"] for entry in entries] == [A]
    assert len(damaged) == 1 and str(broken) in damaged[0]


@pytest.mark.parametrize("content", [b"", b"no index", encode({"version": 0})])
def test_the_index_is_made_again(store: Store, tmp_path: Path, content: bytes) -> None:
    add(store, tmp_path, result(A, {"e/row": [1]}))
    entries_of(store)
    (store.folder / INDEX).write_bytes(content)
    assert times(store) == [[1]]


def write_all(store: Store, inputs: list[Path]) -> None:
    store.create()
    for path in inputs:
        store.add(path)
        entries_of(store)


def test_writers_at_once_lose_nothing(store: Store, tmp_path: Path) -> None:
    inputs = [
        write(tmp_path / f"{number}.json", result(A, {"e/row": [number + 1]}, number))
        for number in range(8)
    ]
    fork = get_context("fork")
    parts = (inputs, inputs[2:], inputs[::-1])
    writers = [fork.Process(target=write_all, args=(store, part)) for part in parts]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert len(entries_of(store)) == 8


def test_a_folder_of_other_files_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(Refused, match="holds other files"):
        Store(tmp_path).create()
    with pytest.raises(Refused, match="tools/history add"):
        entries_of(Store(tmp_path / "missing"))
