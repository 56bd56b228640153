# SPDX-License-Identifier: MIT
"""tools/plan for single models."""

from pathlib import Path
from typing import Any

import pytest

from golden import check_golden, refusals
from plan_program import ask, check_usage_error, plan, plan_json, plan_row, run
from results import document, entry, write
from tools.planner.main import main

GIB = 2**30
MODES = "--mode=inference,forward,forward_backward,train_step"
PRECISIONS = "--precision=fp32,tf32,bf16_autocast,bf16"
HUGE = "name=huge,d_model=1048576,d_ff=1048576,layers=128,heads=1"
TWO = "name=two,d_model=128,d_ff=512,layers=2,heads=4"
EACH = (f"--model={TWO}", "--models=two", MODES, PRECISIONS)
LARGEST = ("--models=2.7B", "--batch=4", "--seq=512")
MINE = "name=mine,d_model=512,d_ff=2048,layers=6,heads=8"
CHOICES = "none,attention,every_1,every_4,every_sqrt"
MFU = ("--models=small", "--tokens=1e9", "--mfu=0.4", "--peak_tflops=100")
STEP = "model_size/{}/fp32/train_step/batch:{}/seq:{}".format


def timed(name: str, rate: float, **counters: float) -> dict[str, Any]:
    return entry(name, 1.0, flops_per_second=rate, **counters)


def measured(tmp_path: Path, *rows: dict[str, Any]) -> str:
    return f"--measured={write(tmp_path / 'result.json', document(*rows))}"


def test_the_text_of_each_kind_of_plan(tmp_path: Path) -> None:
    rates = measured(tmp_path, timed(STEP("tiny", 4, 128), 1e12))
    both = ("--models=tiny,small", "--seq=128")
    rank = ("--precision=bf16", "--recipe=torchtitan", "--shards=8")
    four = ("--mode=inference,train_step", "--precision=fp32,bf16_autocast")
    printed = {
        "two precisions and modes": plan(*EACH[:2], *four),
        "the largest model": plan(*LARGEST),
        "long sequences and little memory": plan(
            "--models=tiny,2.7B", "--batch=1", "--seq=4096", "--device_memory_gib=8"
        ),
        "checkpointing": plan(*both, f"--checkpoint={CHOICES}"),
        "training at a given MFU": plan(*MFU),
        "training as measured": plan(*both, rates),
        "a rank in a framework": plan(*both, *rank),
        "at the rates of a device": plan(*both, "--rates=h200"),
    }
    check_golden("plan.txt", printed)
    assert all(
        len(line) <= 140 for text in printed.values() for line in text.splitlines()
    )


def test_json_repeats_the_query() -> None:
    query = plan_json(
        "--models=xl,small", "--mode=forward", "--seq=1Ki", "--device_memory_gib=0.5"
    )["query"]
    assert query == {
        "batch": 4,
        "seq": 1024,
        "tensor_ranks": 1,
        "device_memory_bytes": GIB // 2,
        "models": ["xl", "small"],
        "precisions": ["fp32"],
        "modes": ["forward"],
    }


def test_the_parts_of_a_row_add_up() -> None:
    rows = plan_json(*EACH)["rows"]
    for row in rows:
        highest = max(row["moments"], key=lambda moment: moment["bytes"])
        assert row["predicted_peak_bytes"] == highest["bytes"]
        assert row["predicted_peak_moment"] == highest["name"]
        assert sum(row["params_by_component"].values()) == row["params"]
        saved = row["saved_by_component"].values()
        assert sum(part["bytes"] for part in saved) == row["saved_bytes"]
        tensors = row["saved_tensors_per_block"]
        of_block = sum(tensor["bytes"] for tensor in tensors)
        assert of_block == row["saved_bytes_per_block"]
        assert sum(row["flops_by_component"].values()) == row["flops"]
        is_update = row["mode"] == "train_step"
        assert row["adamw_flops"] == (14 * row["params"] if is_update else 0)
    phases = [moment["phase"] for moment in rows[-1]["moments"]]
    assert phases == ["forward", "loss", "backward", "optimizer"]


def test_a_model_of_the_user() -> None:
    mesh = f"--model={MINE.replace('mine', 'mesh')},vocab=32000"
    rows = plan_json("--device_memory_gib=0.001", mesh)["rows"]
    standard = ["tiny", "small", "medium", "large", "xl", "2.7B"]
    assert [row["model"] for row in rows] == [*standard, "mesh"]
    assert rows[-1] == plan_row(mesh, "--models", "mesh", "--device_memory_gib=0.001")
    block = 4 * 512**2 + 3 * 512 * 2048 + 2 * 512
    assert rows[-1]["params"] == 2 * 32000 * 512 + 6 * block + 512
    assert rows[-1]["attention"] == "naive"


def test_two_models_of_the_user_and_a_selection() -> None:
    other = MINE.replace("mine", "b") + ",attention=sdpa"
    flags = (f"--model={MINE}", "--model", other, "--models=mine,b,tiny")
    naive, sdpa, _ = plan_json(*flags)["rows"]
    assert (naive["model"], sdpa["model"]) == ("mine", "b")
    assert sdpa["params"] == naive["params"]
    assert sdpa["saved_bytes"] < naive["saved_bytes"]


def test_a_rank_has_the_definition_of_the_whole_model() -> None:
    whole, part = (plan_row("--models=tiny", f"--tensor_ranks={n}") for n in (1, 2))
    assert part["definition"] == whole["definition"]
    assert part["params"] < whole["params"]


def test_the_time_of_training_as_measured(tmp_path: Path) -> None:
    flag = measured(
        tmp_path,
        timed(STEP("tiny", 1, 128), 1e12),
        timed(STEP("tiny", 2, 128), 1e12, recomputed_flops=2e6),
        timed(STEP("tiny", 4, 128), 2e12),
        timed(STEP("tiny", 4, 256), 5e12),
        timed(STEP("tiny", 4, 128), 4e12),  # another repetition
        timed("memory/tiny/fp32/train_step/batch:4/seq:128", 9e12),
    )
    flags = ("--models=tiny,small", flag, "--batch=4", "--peak_tflops=10")
    tiny, small = plan_json(*flags, "--seq=128")["rows"]
    assert tiny["training"]["basis"] == STEP("tiny", 4, 128)
    assert tiny["training"]["flops_per_second"] == 3e12
    assert tiny["training"]["mfu"] == pytest.approx(0.3)
    assert tiny["training"]["seconds"] == pytest.approx(
        2**20 / 512 * tiny["flops"] / 3e12
    )
    assert small["training"]["seconds"] is None
    assert small["training"]["basis"] == "no row model_size/small/fp32/train_step"
    # For another shape, the row with the most tokens is used instead.
    tiny, _ = plan_json(*flags, "--seq=512")["rows"]
    assert tiny["training"]["basis"] == STEP("tiny", 4, 256)
    for batch in (2, 4):
        shape = (f"--batch={batch}", "--seq=128")
        again = plan_row("--models=tiny", flag, *shape, "--checkpoint=every_1")
        assert again["training"]["seconds"] == pytest.approx(
            2**13 / batch * (again["flops"] + again["recomputed_flops"]) / 3e12
        )


def test_a_measurement_that_is_none_is_refused(tmp_path: Path) -> None:
    untimed = entry("model_size/small/fp32/train_step/batch:4/seq:128", 1.0)
    flag = measured(tmp_path, untimed)
    check_usage_error(run(flag), [str(tmp_path), "no timed row of model_size"])


def test_a_model_says_itself_what_it_recomputes() -> None:
    flags = (f"--model={MINE},checkpoint=every_2", "--models=mine")
    assert plan_row(*flags)["checkpoint"] == "every_2"
    assert plan_row(*flags, "--checkpoint=none")["checkpoint"] == "none"


DEFINED = ("--models=mine", "--recipe=fms-fsdp", "--model")


@pytest.mark.parametrize(
    ("flags", "layers"),
    [
        (["--attention=sdpa"], "textbook sdpa"),
        (["--implementation=library"], "library sdpa"),
        (["--recipe=fms-fsdp"], "fused own"),
        (["--recipe=fms-fsdp", "--attention=naive"], "fused naive"),
        (["--recipe=fms-fsdp", "--implementation=textbook"], "textbook naive"),
        (["--recipe=fms-fsdp", "--checkpoint=every_1"], "library sdpa"),
        (["--recipe=torchtitan", "--traits=eager"], "library sdpa"),
        (["--recipe=megatron", "--traits=bf16,unfused"], "fused naive"),
        ([*DEFINED, MINE], "fused own"),
        ([*DEFINED, f"{MINE},checkpoint=every_2"], "library sdpa"),
        ([*DEFINED, f"{MINE},attention=sdpa"], "textbook sdpa"),
    ],
)
def test_the_layers_are_those_of_flag_definition_or_recipe(
    flags: list[str], layers: str
) -> None:
    own = [] if flags[0] == DEFINED[0] else ["--models=tiny"]
    row = plan_row(*own, "--precision=bf16", "--seq=64", *flags)
    assert f"{row['implementation']} {row['attention']}" == layers


def test_help_lists_every_flag() -> None:
    text = plan("-h")
    for flag in (
        *("models", "model", "batch", "seq", "precision", "mode"),
        *("device_memory_gib", "json", "mfu", "peak_tflops", "measured"),
    ):
        assert f"  --{flag}" in text
    assert max(map(len, text.splitlines())) <= 80


MFU_AND_PEAK = "--mfu=0.5 --peak_tflops=9"
BF16 = "--models=tiny --precision=bf16"
WRONG = f"""
    --devicememory=8; --models=smal; --models=small,; --models=xl,small,xl;
    --precision=fp16; --mode=train; --checkpoint=all; --batch=0; --seq=0;
    --device_memory_gib=0; --mfu=1.5 --peak_tflops=9; --mfu=0.5;
    --mfu=0.5 --peak_tflops=-9; {MFU_AND_PEAK} --measured=x; --mfu=0.5 --mfu=0.4;
    --peak_tflops=9; --tokens=5; {MFU_AND_PEAK} --tokens=0; --mfu=0.5 --parallel;
    {MFU_AND_PEAK} --models=tiny --mode=inference;
    --json -- --json; --json=maybe; --model={MINE} --model={MINE};
    --model=name=mine; --models=mine; small; --batch=1048576 --seq=1048576;
    --model={HUGE} --models=huge; --measured=nothing.json;
    --model={MINE.replace("=6", "=2000")};
    --model={MINE},attention=sdpa_cudnn; --help --xyzzy; --rates=h1; --traits=te;
    --recipe=megatron; {BF16} --recipe=megatron --traits=gpu;
    {BF16} --recipe=torchtitan --checkpoint=every_1 --recomputed=0.5;
    {BF16} --recipe=pytorch --recomputed=0.5; {BF16} --recipe=pytorch --traits=on_gpu;
    {BF16} --recipe=pytorch --traits=fsdp; {BF16} --recipe=megatron --traits=dropout;
    --models=tiny --recipe=pytorch --traits=fsdp,on_gpu;
    {BF16} --recipe=megatron --traits=bf16,a100,hopper;
    {BF16} --recipe=pytorch --traits=fsdp,on_gpu --mode=forward;
    {BF16} --recipe=llm.c --checkpoint=none,every_1;
    {BF16} --recipe=megatron --traits=; --traits=; --recomputed=0;
    --tensor_ranks=0; --tensor_ranks=3; --tensor_ranks=4 --models=flat
    --model=name=flat,d_model=48,d_ff=2,layers=1,heads=4;
    --models=tiny --recipe=nanogpt --shards=4; --ranks=8; --links=a:1:1;
    --parallel=true; --mesh=data:2; --gpus=8; --model=8B"""


def test_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    said = refusals(lambda flags: main(flags, ask), WRONG, capsys, "tools/plan")
    check_golden("errors/plan.txt", said)
    check_usage_error(run("--models=a\nb"), ["'a\\nb'"])
    check_usage_error(run("--models=a\udc80"), ["a\\udc80", "is not UTF-8"])
