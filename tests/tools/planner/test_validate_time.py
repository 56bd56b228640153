# SPDX-License-Identifier: MIT
"""tools/validate time: measured steps as jobs, and their predictions."""

import json
from pathlib import Path
from typing import Any

import pytest

from plan_program import ask, run
from results import REFERENCE
from tools.planner.recipes import read_table
from tools.planner.timing.step import Ranks, TimedJob
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


def job(step: Step) -> TimedJob:
    assert step.job, step.lacks
    return step.job


@pytest.mark.parametrize(
    ("parallelism", "batch", "ranks", "size"),
    [
        ("TP8 PP2 DP4", "gb 64", Ranks(8, 2, 8, micro_batches=8), 1),
        ("TP4+SP DP2, distributed optimizer", "mb 2, gb 128",
         Ranks(4, 1, 32, False, True, sequence_parallel=True, micro_batches=2), 2),
        ("TP4 PP8 VP12", "mb 1, gb 16",
         Ranks(4, 8, 4, chunks=12, micro_batches=4), 1),
        ("model parallel 16", "64", Ranks(8, 2, 8), 64),
        ("FSDP2, compile", "-", Ranks(data=128, shards_parameters=True), 1),
        ("ZeRO-1", "64/GPU, gb 8192", Ranks(data=128, shards_optimizer=True), 64),
        ("DP4 / TP4", "gb 128", Ranks(data=128), 1),
    ],
)  # fmt: skip
def test_ranks_and_batches_are_read(
    tmp_path: Path, parallelism: str, batch: str, ranks: Ranks, size: int
) -> None:
    found = job(by_hand(tmp_path, parallelism=parallelism, batch=batch))
    assert (found.ranks, found.batch) == (ranks, size)


@pytest.mark.parametrize(
    ("measured", "value", "unit"),
    [
        ("138 TF/s/GPU (HFU 44 %)", 138e12, "HFU FLOP/s"),
        ("408.8 TF/s/GPU; MFU 41 %", 408.8e12, "FLOP/s"),
        ("2596.0 ms/step", 2.596, "s"),
        ("fwd 226.3 + bwd 412.5 = 638.8 ms", 0.6388, "s"),
        ("18.13 / 13.75 s/iter", 18.13, "s"),
        ("2.83 s/step (2,048 GPUs: 2.96); MFU 62.1 %", 2.83, "s"),
        ("2,150; MFU .61 HFU .69", 2150, "tok/s"),
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
    ("cells", "fields"),
    [
        ({"model": "Nemotron"}, "mlp=relu2,norm=layer,biases=norms"),
        ({"model": "GPT"}, "biases=all,positions=learned,context=4096"),
        ({"checkpointing": "full"}, "checkpoint=every_1"),
        ({"precision": "fp16"}, "attention=naive,implementation=fused"),
        ({"precision": "fp32", "parallelism": "none"}, "naive,implementation=library"),
        ({SIZES: "8,512,4d,8(2),99 tied"},
         "d_ff=2048,layers=8,heads=8,kv_heads=2,vocab=99,tied_embeddings=true"),
    ],
)  # fmt: skip
def test_models_are_read(tmp_path: Path, cells: dict[str, str], fields: str) -> None:
    assert fields in job(by_hand(tmp_path, **cells)).model


@pytest.mark.parametrize(
    ("cells", "lacks"),
    [
        ({"precision": "FP8"}, "fp8"),
        ({"parallelism": "HSDP, float8"}, "float8"),
        ({"precision": "int8"}, "a known precision; there is 'int8'"),
        ({"parallelism": "TP2 CP2"}, "context parallelism"),
        ({"model": "Mixtral 8x7B"}, "a dense model"),
        ({"model": "Falcon"}, "a known architecture; there is 'Falcon'"),
        ({"checkpointing": "block 4"}, "a known recomputation; there is 'block 4'"),
        ({"parallelism": "PP64"}, "a layer for each of 64 stages"),
        ({"batch": "gb 8"}, "a sequence for each of 128 ranks; there is 'gb 8'"),
        ({"gpu": "GH200"}, "a GPU of devices.tsv; there is GH200"),
        ({"gpu": "A100-PCIE-40GB"}, "a GPU of devices.tsv; there is A100-PCIE-40GB"),
        ({"gpu": "MI300X"}, "a GPU of devices.tsv; there is MI300X"),
        ({SIZES: "same"}, "sizes of a known form; there is 'same'"),
    ],
)
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
            (found,) = json.loads(ask(job(step).flags()).stdout)["rows"]
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


def test_a_refused_job_costs_no_other(tmp_path: Path) -> None:
    table = (DATA / "points.tsv").read_text().splitlines()
    refused = table[1].replace("32,4096,11008,32,", "32,4096,11008,3,")
    (tmp_path / "points.tsv").write_text("\n".join([*table[:2], refused]))
    found = document(str(tmp_path / "points.tsv"))
    assert [step["ratio"] for step in found["steps"]] == [pytest.approx(0.93, abs=0.01)]
    (lacking,) = found["lacking"]
    assert "heads" in lacking["lacks"]
