# SPDX-License-Identifier: MIT
"""tools/validate time: measured steps as jobs, and their predictions."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from plan_program import ask, by_hand_file, program, run, table
from reports.results.result_file import load
from results import REFERENCE
from stub_checkout import write_script
from tools.planner.program import Program
from tools.planner.recipes import Job, read_table
from tools.planner.validation import page
from tools.planner.validation.cells import DATA, Lacks
from tools.planner.validation.judged import compare
from tools.planner.validation.main import main
from tools.planner.validation.points import read_points
from tools.planner.validation.step_times import judge
from tools.planner.validation.steps import read_steps, steps_of


@pytest.mark.parametrize(
    ("read", "cells", "lacks"),
    [
        (read_steps, {"pipeline": "64"}, "a layer for each of 64 stages"),
        (read_steps, {"seq": "4k"}, "seq: it is '4k'; allowed: a whole number, 1 to "),
        (read_steps, {"value": "0"}, "value: it is '0'; allowed: a number, 1e-09 to "),
        (read_steps, {"unit": "GHz"}, "unit: it is 'GHz'; allowed: s, ms, tok/s, "),
        (read_steps, {"sharding": "x"}, "sharding: it is 'x'; allowed: none, optim"),
        (read_steps, {"sequence_parallel": ""}, "sequence_parallel: it is ''; allo"),
        (read_points, {"recipe": "x"}, "recipe: it is 'x'; allowed: megatron, "),
        (read_points, {"traits": "x"}, "traits: it has 'x'; allowed: sequence_par"),
        (read_points, {"precision": "fp32"}, "precision: it is 'fp32'; allowed: bf16"),
    ],
)
def test_what_no_job_can_have_is_named(
    tmp_path: Path,
    read: Callable[[Path], Iterable[tuple[str, Callable[[], object]]]],
    cells: dict[str, str],
    lacks: str,
) -> None:
    """The committed page has what rows lack."""
    ((_, made),) = read(by_hand_file(tmp_path, **cells))
    with pytest.raises(Lacks) as found:
        made()
    assert str(found.value).removeprefix("cells of a known form: ").startswith(lacks)


def document(*words: str) -> dict[str, Any]:
    done = run("time", "--json", *words, command=main)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_models_of_a_table_have_its_parameters() -> None:
    rows = read_table(DATA / "llm_foundry.tsv")
    for row, (_, made) in zip(rows, read_steps(DATA / "llm_foundry.tsv"), strict=True):
        if row["model"].startswith(("MPT-125m", "MPT-760m")):
            found = ask(made().job.request())
            assert f"({found['params']} parameters)" in row["said"]


def test_the_committed_page_is_what_the_tool_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page has all predictions of bytes and times, and how far off they are."""
    written: dict[Path, str] = {}
    writer = "tools.planner.validation.main.write_files"
    monkeypatch.setattr(writer, written.update)
    assert run("page", command=main).returncode == 0
    committed = {path: path.read_text("utf-8") for path in (page.PAGE, page.PLOT)}
    assert written == committed


def test_a_result_is_predicted_by_its_own_peaks() -> None:
    found = document(str(REFERENCE))  # asserts the exit status
    assert (len(found["points"]), found["lacking"]) == (18, [])


def test_a_step_of_a_result_has_the_whole_architecture() -> None:
    def named(job: Job) -> dict[str, Any]:
        sizes = "d_model=64,d_ff=128,layers=2,heads=4,kv_heads=2,vocab=100,mlp=gelu"
        return {"definition": f"name={job.model},{sizes},attention=naive"}

    sizes = named(Job("", 1, 1))["definition"].removeprefix("name=,")
    own = sizes.replace("attention=naive", "implementation=fused")
    steps = steps_of(load(REFERENCE), named)
    assert {sizes, own} <= {made().job.model for _, made in steps}


@pytest.mark.parametrize(
    ("ends", "said", "status"), [("kill -9 $$", "137", 137), ("exit", "0", 1)]
)
def test_a_program_that_ends_is_no_point_without_a_job(
    tmp_path: Path, capsys: Any, ends: str, said: str, status: int
) -> None:
    program = tmp_path / "program"
    write_script(program, f"#!/bin/sh\n{ends}\n")
    with pytest.raises(SystemExit) as end:
        main(["memory", str(by_hand_file(tmp_path))], Program(program))
    assert end.value.code == status
    assert capsys.readouterr().err.split()[-1] == said


def test_lines_that_a_library_prints_are_no_answers() -> None:
    files = Path(f"/proc/{program()._process.pid}/fd")
    ask(Job("tiny", 1, 8).request())  # it has started
    assert (files / "1").readlink() == (files / "2").readlink()


def test_a_model_that_the_program_refuses_costs_its_steps_alone() -> None:
    def refused(job: Job) -> dict[str, Any]:
        raise Lacks(f"a job of the program: {job.model}")

    found = compare(steps_of(load(REFERENCE), refused), lambda step: ())
    assert (len(found.lacking), found.points) == (18, 0)


def test_a_key_may_be_absent_from_a_point_but_not_from_an_answer() -> None:
    absent = dict[str, Any]()
    assert len(compare([("a", absent.popitem)], lambda step: ()).lacking) == 1
    with pytest.raises(KeyError):
        compare([("a", str)], absent.__getitem__)


def test_recomputed_flops_are_of_a_share_of_the_blocks(tmp_path: Path) -> None:
    def measured(share: str) -> float:
        cells = {"unit": "HFU TFLOP/s", "recomputed": share}
        ((_, made),) = read_steps(by_hand_file(tmp_path, **cells))
        (found,) = judge(made(), lambda job: ask(job.request()))
        return found.measured or 0

    none, half, all_ = map(measured, ("0", "0.5", "1"))
    assert none < half == pytest.approx((none + all_) / 2)


def test_a_large_error_has_an_exit_status(tmp_path: Path) -> None:
    file = by_hand_file(tmp_path, value="1000")
    done = run("time", "--json", str(file), command=main)
    assert done.returncode == 1
    assert json.loads(done.stdout)["points"][0]["ratio"] < 0.85


def test_a_refused_job_costs_no_other(tmp_path: Path) -> None:
    row, *_ = read_table(DATA / "points.tsv")
    file = str(table(tmp_path / "points.tsv", row, row | {"heads": "3"}))
    found = document(file)
    assert [step["ratio"] for step in found["points"]] == [
        pytest.approx(0.93, abs=0.01)
    ]
    (lacking,) = found["lacking"]
    why = "d_model is 4096 and heads is 3; allowed: heads that divide d_model"
    assert lacking["lacks"] == f"a job of the program: {why}"
    assert "\n1 of 2 points are expressible\n" in run("time", file, command=main).stdout
