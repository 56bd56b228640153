# SPDX-License-Identifier: MIT
"""A directory of tools/ab: its contents, and the decision from its pairs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from golden import check_golden
from reports.compare.ab_decisions import decide, plan_of
from reports.compare.ab_record import AbRun, Process, Side, load, samples_file_of, save
from reports.compare.decision import Verdict
from reports.results.records import NotAResult
from results import document, entry
from tools.ab_run.measure import pairs_needed, seconds_left
from tools.ab_run.schedule import side_of

ROW, OTHER = "a", "b"


def write_run(
    directory: Path,
    base: list[dict[str, float]],
    new: list[dict[str, float]],
    **changes: object,
) -> AbRun:
    """Writes a run of these pairs: per process, times in us by row."""
    processes = []
    for position in range(2 * len(base)):
        process = Process(side_of("k", position), position, 1.5)
        times = (base if process.side == "base" else new)[process.pair]
        rows = [entry(name, us) for name, us in times.items()]
        result = directory / process.file
        result.write_text(json.dumps(document(*rows)))
        samples_file_of(result).touch()
        processes.append(process)
    run = AbRun(
        base=Side("main", "c0ffee", None),
        new=Side("x", None, "beef"),
        flags=["--seed=1"],
        threshold=0.02,
        confidence=0.95,
        max_pairs=40,
        stops_early=True,
        rows=[ROW, OTHER],
        processes=processes,
    )
    return replace(run, **changes)  # type: ignore[arg-type]


def pairs_of(
    ratio: float, count: int
) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """Returns times of both rows: ROW changes by `ratio`, OTHER has a little noise."""
    base = [{ROW: 100.0 + i % 3 / 10, OTHER: 100.0} for i in range(count)]
    new = [{ROW: 100.0 * ratio, OTHER: 100.0 + i % 2 / 10} for i in range(count)]
    return base, new


PROCESS = {"side": "base", "position": 0, "seconds": 1.5}


def two(**changes: object) -> dict[str, object]:
    second = PROCESS | {"side": "new", "position": 1} | changes
    return {"processes": [PROCESS, second]}


UNNAMED = {"label": "x", "revision": None, "sha256": None}
WRONG: list[Any] = [
    *({"base": "main"}, {"new": {"label": "x"}}, {"new": UNNAMED | {"label": 1}}),
    *({"new": UNNAMED}, {"flags": "--seed=1"}, {"threshold": 0}, {"threshold": "2"}),
    *({"confidence": 0.5}, {"confidence": 10**400}, {"stops_early": 1}),
    *({"max_pairs": 0}, {"max_pairs": 7.5}, {"max_pairs": True}, {"noise": 1}),
    *({"rows": ["a", 1]}, {"rows": ["a", "a"]}, {"ended": "bored"}),
    *({"processes": {}}, {"processes": [1]}, two(position=0)),
    *(two(position=-1), two(side="base"), two(side="old"), two(seconds=-1)),
    *({"kind": "x"}, {"version": 2}, {"max_pairs": 10**400}),
]


def test_fields_that_no_run_has(tmp_path: Path) -> None:
    save(write_run(tmp_path, *pairs_of(1.1, 1)), tmp_path)
    path, said = tmp_path / "ab.json", []
    good = json.loads(path.read_text())
    for changes in WRONG:
        path.write_text(json.dumps(good | changes))
        with pytest.raises(NotAResult) as raised:
            load(tmp_path)
        start = f"{path} is not a run of tools/ab: "
        assert str(raised.value).startswith(start) and "\n" not in str(raised.value)
        said.append(str(raised.value).removeprefix(start))
    check_golden("ab.txt", {"not a run of tools/ab": "\n".join(said)})


def test_an_unfinished_run_has_verdicts_of_its_looks_alone(tmp_path: Path) -> None:
    run = write_run(tmp_path, *pairs_of(1.1, 12), rows=[ROW])
    first = plan_of(run).looks()[0].pairs
    for pairs in (first - 1, first, 12):
        decision = decide(run.of(run.processes[: 2 * pairs]), tmp_path)[ROW]
        looked = Verdict.INCONCLUSIVE if pairs < first else Verdict.REGRESSED
        assert (decision.verdict, decision.pairs) == (looked, min(pairs, first))


def test_the_time_that_is_left(tmp_path: Path) -> None:
    nothing = write_run(tmp_path, [], [])
    assert seconds_left(nothing, tmp_path, [ROW], 100.0) is None
    run = write_run(tmp_path, *pairs_of(1.1, 2), max_pairs=10)  # 0.75 s per row
    assert pairs_needed(run, None) == 6  # the first look is after 8
    same = replace(run, stops_early=False)
    both = [ROW, OTHER]
    assert seconds_left(same, tmp_path, both, 1e9) == 0.75 * 2 * 8 * 2
    assert seconds_left(same, tmp_path, [ROW], 1e9) == 0.75 * 2 * 8
    assert seconds_left(same, tmp_path, both, 16.0) == 10.0  # 6 s are gone
