# SPDX-License-Identifier: MIT
"""tools/validate time: measured steps as jobs, and their predictions."""

import json
from pathlib import Path
from typing import Any

import pytest

from plan_program import ask, run
from results import REFERENCE
from tools.planner.recipes import read_table
from tools.planner.validation import page
from tools.planner.validation.__main__ import main
from tools.planner.validation.cells import DATA, SIZES
from tools.planner.validation.steps import Step, read_steps


def by_hand_file(tmp_path: Path, **cells: str) -> Path:
    """Writes the first committed row with other cells."""
    row = read_table(DATA / "points.tsv")[0] | cells
    file = tmp_path / "points.tsv"
    file.write_text("\n".join("\t".join(line) for line in (row, row.values())))
    return file


def by_hand(tmp_path: Path, **cells: str) -> Step:
    (step,) = read_steps(by_hand_file(tmp_path, **cells))
    return step


@pytest.mark.parametrize(
    ("measured", "value", "unit"),
    [
        ("MFU 45 %", 45, "MFU"),
        ("45 % MFU", 45, "MFU"),
        ("850ms/step", 0.85, "s"),
        ("1.5 s / iteration", 1.5, "s"),
        ("620 TFLOPs/GPU", 620e12, "FLOP/s"),
        ("36k tok/s/GPU", 36e3, "tok/s"),
        ("36,000 tok/s", 0, "36,000 tok/s"),
        ("132 samples/s", 0, "132 samples/s"),
    ],
)
def test_units_are_read(tmp_path: Path, measured: str, value: float, unit: str) -> None:
    step = by_hand(tmp_path, measured=measured)
    assert step.unit == unit
    assert step.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("cells", "lacks"),
    [
        ({"parallelism": "HSDP, float8"}, "float8"),
        ({"precision": "int8"}, "a known precision; there is 'int8'"),
        ({"parallelism": "TP2 CP2"}, "context parallelism"),
        ({"model": "Mixtral 8x7B"}, "a dense model"),
        ({"model": "Falcon"}, "a known architecture; there is 'Falcon'"),
        ({"checkpointing": "block 4"}, "a known recomputation; there is 'block 4'"),
        ({"parallelism": "PP64"}, "a layer for each of 64 stages"),
        ({"batch": "gb 8"}, "a sequence for each of 128 ranks; there is 'gb 8'"),
        ({SIZES: "1,2"}, "sizes of a known form; there is '1,2'"),
        ({"seq": "4k"},
         "cells of a known form: invalid literal for int() with base 10: '4k'"),
        ({"gpu": "GH200"}, "a GPU of devices.tsv; there is GH200"),
        ({"gpu": "A100-PCIE-40GB"}, "a GPU of devices.tsv; there is A100-PCIE-40GB"),
    ],
)  # fmt: skip
def test_what_no_job_can_have_is_named(
    tmp_path: Path, cells: dict[str, str], lacks: str
) -> None:
    step = by_hand(tmp_path, **cells)
    assert (step.job, step.lacks) == (None, lacks)


def document(*words: str) -> dict[str, Any]:
    done = run("time", "--json", *words, command=main)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_share_of_the_peak_is_a_time(tmp_path: Path) -> None:
    share, rate = (
        document(str(by_hand_file(tmp_path, measured=measured)))["steps"][0]
        for measured in ("MFU .625", "195 TF/s/GPU")
    )
    assert share["measured_us"] == pytest.approx(rate["measured_us"])


def test_models_of_a_table_have_its_parameters() -> None:
    rows = read_table(DATA / "llm_foundry.tsv")
    for row, step in zip(rows, read_steps(DATA / "llm_foundry.tsv"), strict=True):
        if row["model"] in ("125m", "760m"):
            assert step.job, step.lacks
            (found,) = json.loads(ask(step.job.flags()).stdout)["rows"]
            assert found["params"] == int(row["params"])


def test_the_committed_page_is_what_the_tool_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page has all predictions of bytes and times, and how far off they are."""
    written: dict[Path, str] = {}
    writer = "tools.planner.validation.__main__.write_files"
    monkeypatch.setattr(writer, written.update)
    assert run("page", command=main).returncode == 0
    committed = {path: path.read_text("utf-8") for path in (page.PAGE, page.PLOT)}
    assert written == committed


def test_a_result_is_predicted_by_its_own_peaks() -> None:
    found = document(str(REFERENCE))  # asserts the exit status
    assert (len(found["steps"]), found["lacking"]) == (18, [])


def test_a_large_error_has_an_exit_status(tmp_path: Path) -> None:
    file = by_hand_file(tmp_path, measured="1,000")
    done = run("time", "--json", str(file), command=main)
    assert done.returncode == 1
    assert json.loads(done.stdout)["steps"][0]["ratio"] < 0.85


def test_a_rate_of_samples_is_no_time(tmp_path: Path) -> None:
    file = by_hand_file(tmp_path, measured="132 samples/s")
    done = run("time", "--json", str(file), command=main)
    (lacking,) = json.loads(done.stdout)["lacking"]
    assert lacking["lacks"] == "a time; measured is '132 samples/s'"


def test_a_refused_job_costs_no_other(tmp_path: Path) -> None:
    table = (DATA / "points.tsv").read_text().splitlines()
    refused = table[1].replace("32,4096,11008,32,", "32,4096,11008,3,")
    (tmp_path / "points.tsv").write_text("\n".join([*table[:2], refused]))
    found = document(str(tmp_path / "points.tsv"))
    assert [step["ratio"] for step in found["steps"]] == [pytest.approx(0.93, abs=0.01)]
    (lacking,) = found["lacking"]
    assert "heads" in lacking["lacks"]
