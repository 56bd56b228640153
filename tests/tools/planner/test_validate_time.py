# SPDX-License-Identifier: MIT
"""tools/validate time: measured steps as jobs, and their predictions."""

import json
from pathlib import Path
from typing import Any

import pytest

from plan_program import ask, needs_plan, run
from results import REFERENCE
from tools.planner.recipes import Memory, read_table
from tools.planner.timing.step import Ranks, TimedJob
from tools.planner.validation import memory, page, step_times
from tools.planner.validation.__main__ import main
from tools.planner.validation.cells import DATA, SIZES
from tools.planner.validation.steps import Step, read_steps

_LLAMA = "attention=sdpa,implementation=fused,mlp=swiglu,norm=rms"


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


def test_a_row_by_hand_is_a_job(tmp_path: Path) -> None:
    step = by_hand(tmp_path)
    assert step.device and step.device.name == "a100-80"
    assert (step.value, step.unit) == (4550, "tok/s")
    assert job(step) == TimedJob(
        "d_model=4096,d_ff=11008,layers=32,heads=32,vocab=32000,pad_vocab=1," + _LLAMA,
        batch=2,
        seq=4096,
        ranks=Ranks(data=128, shards_parameters=True),
    )


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


@needs_plan
def test_a_share_of_the_peak_is_a_time(tmp_path: Path) -> None:
    share, rate = (
        document(str(by_hand_file(tmp_path, measured=measured)))["steps"][0]
        for measured in ("MFU .625", "195 TF/s/GPU")
    )
    assert share["measured_us"] == pytest.approx(rate["measured_us"])


@needs_plan
def test_models_of_a_table_have_its_parameters() -> None:
    rows = read_table(DATA / "llm_foundry.tsv")
    for row, step in zip(rows, read_steps(DATA / "llm_foundry.tsv"), strict=True):
        if row["model"] in ("125m", "760m"):
            (found,) = json.loads(ask(job(step).flags()).stdout)["rows"]
            assert found["params"] == int(row["params"])


@needs_plan
def test_committed_steps_are_predicted() -> None:
    summary = document(str(DATA / "points.tsv"))["summary"]
    for gpu, points, error in (("A100", 18, 0.09), ("H100", 13, 0.16)):
        assert summary[gpu]["points"] >= points
        assert summary[gpu]["mean_absolute_error"] <= error
        assert summary[gpu]["mean_absolute_error"] < summary[gpu]["by_one_utilization"]
    assert summary["H100 without known causes"]["mean_absolute_error"] <= 0.1
    assert summary["all"]["within_interval"] >= 0.8


@needs_plan
def test_a_result_is_predicted_by_its_own_peaks() -> None:
    found = document(str(REFERENCE))  # asserts the exit status
    assert (len(found["steps"]), found["lacking"]) == (18, [])


@needs_plan
def test_a_large_error_has_an_exit_status(tmp_path: Path) -> None:
    file = by_hand_file(tmp_path, measured="1,000")
    done = run("time", "--json", str(file), command=main)
    assert done.returncode == 1
    assert json.loads(done.stdout)["steps"][0]["ratio"] < 0.85


@needs_plan
def test_a_refused_job_costs_no_other(tmp_path: Path) -> None:
    table = (DATA / "points.tsv").read_text().splitlines()
    refused = table[1].replace("32,4096,11008,32,", "32,4096,11008,3,")
    (tmp_path / "points.tsv").write_text("\n".join([*table[:2], refused]))
    found = document(str(tmp_path / "points.tsv"))
    assert [step["ratio"] for step in found["steps"]] == [pytest.approx(0.93, abs=0.01)]
    (lacking,) = found["lacking"]
    assert "heads" in lacking["lacks"]


def test_the_page_has_the_numbers_of_both(tmp_path: Path) -> None:
    step = by_hand(tmp_path)
    times = [
        step_times.Judged(
            name=step.name,
            gpu=step.gpu,
            device="a100-80",
            measured_us=100,
            predicted_us=us,
            low_us=us,
            high_us=us,
            parts_us={"products": us},
            ratio=us / 100,
            cause="",
            source=step.source,
            flops=1e9,
        )
        for us in (80, 110)
    ]
    predicted = Memory({"weights": 990}, {}, {"logits": 1050}, {})
    measured, ratios = {"static": 1000, "peak": 2000}, {"static": 0.99, "peak": 1.02}
    sizes = [memory.Judged("a job", "H100", "", "", predicted, measured, ratios)]
    lacking = [by_hand(tmp_path, precision="fp8")]
    made = page.page(sizes, [], times, lacking)
    text = made[page.PAGE]
    assert "mean absolute error 1 % of 1" in text and "2 % of 1" in text
    assert "median absolute error 15 %, mean 15 % of 2" in text
    assert "| a job | H100 | static | 990 | 1,000 | 0.9900 |" in text
    assert "| time | 1 Llama-2 7B | fp8 |" in text
    assert f"]({page.PLOT.name})" in text
    assert made[page.PLOT].count("<circle") == 2
