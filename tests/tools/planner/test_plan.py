# SPDX-License-Identifier: MIT
"""tools/plan for single models."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from built import built
from golden import check_golden
from plan_program import ask, check_usage_error, plan, plan_json, plan_row, run
from results import document, entry, write

GIB = 2**30
MODES = "--mode=inference,forward,forward_backward,train_step"
PRECISIONS = "--precision=fp32,tf32,bf16_autocast,bf16"
HUGE = "name=huge,d_model=1048576,d_ff=1048576,layers=128,heads=1"
TWO = "name=two,d_model=128,d_ff=512,layers=2,heads=4"
EACH = (f"--model={TWO}", "--models=two", MODES, PRECISIONS)
LARGEST = ("--models=2.7B", "--batch=4", "--seq=512")
MINE = "name=mine,d_model=512,d_ff=2048,layers=6,heads=8"
MFU = ("--models=small", "--tokens=1e9", "--mfu=0.4", "--peak_tflops=100")
STEP = "model_size/{}/fp32/train_step/batch:{}/seq:{}".format


def timed(name: str, rate: float) -> dict[str, Any]:
    return entry(name, 1.0, flops_per_second=rate)


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
        "checkpointing": plan(*both, "--checkpoint=none,every_1"),
        "training at a given MFU": plan(*MFU),
        "training as measured": plan(*both, rates),
        "a rank in a framework": plan(*both, *rank),
        "at the rates of a device": plan(*both, "--rates=h100"),
    }
    check_golden("plan.txt", printed)
    assert all(
        len(line) <= 140 for text in printed.values() for line in text.splitlines()
    )


def test_train_step_of_the_largest_model_needs_65_gib() -> None:
    row = plan_row(*LARGEST, "--precision=fp32")
    assert row["predicted_peak_bytes"] == pytest.approx(65 * GIB, rel=0.02)
    assert row["predicted_peak_moment"].endswith("softmax of layer 31")
    assert row["fits"]


def test_json_repeats_the_query() -> None:
    query = plan_json(
        "--models=xl,small", "--mode=forward", "--batch=2", "--device_memory_gib=0.5"
    )["query"]
    assert query == {
        "batch": 2,
        "seq": 512,
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


def test_modes_keep_what_they_need() -> None:
    rows = {row["mode"]: row for row in plan_json("--models=small", MODES)["rows"]}
    for mode in ("inference", "forward"):
        assert rows[mode]["gradient_bytes"] == 0
    for mode in ("inference", "forward", "forward_backward"):
        assert rows[mode]["optimizer_bytes"] == 0
    assert rows["inference"]["saved_bytes"] == 0
    assert rows["inference"]["saved_bytes_per_block"] == 0
    assert rows["train_step"]["flops"] == 3 * rows["inference"]["flops"]


@pytest.mark.parametrize(
    ("batch", "memory_gib", "precision"),
    [(1, 16, "bf16"), (4, 80, "fp32"), (2**20, 10**6, "bf16_autocast")],
)
def test_largest_seq_fits_and_one_more_token_does_not(
    batch: int, memory_gib: int, precision: str
) -> None:
    flags = (
        f"--batch={batch}",
        f"--device_memory_gib={memory_gib}",
        f"--precision={precision}",
    )
    same = (*flags, "--models=tiny")
    row = plan_row(*same, "--seq=8")
    largest = row["largest_seq"]
    assert row["fits"] == (largest >= 8)
    assert largest == 0 or plan_row(*same, f"--seq={largest}")["fits"]
    assert not plan_row(*same, f"--seq={largest + 1}")["fits"]


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


def test_components_and_tensors_of_the_largest_model() -> None:
    row = plan_row(*LARGEST)
    assert row["params_by_component"]["ffn"] == 32 * 3 * 2560 * 10240
    scores, rows = 4 * 32 * 512**2, 4 * 32 * 512
    assert row["saved_by_component"]["softmax"]["bytes"] == 32 * (
        4 * (2 * scores + rows) + 8 * rows
    )
    assert row["flops_by_component"]["scores"] == 3 * 32 * 2 * 4 * 512**2 * 2560
    assert row["residual_bytes"] == 20 * 2**20
    assert row["logit_bytes"] == 4 * 4 * 512 * 10000
    assert row["largest_tensor"] == {
        "name": "aten::bmm in forward",
        "component": "scores",
        "bytes": 128 * 2**20,
    }


def test_the_family_of_gpt2() -> None:
    flags = ("--models=gpt2,gpt2-medium,gpt2-large,gpt2-xl", "--mode=forward")
    rows = plan_json(*flags, "--batch=1", "--seq=1024")["rows"]
    assert [row["vocab"] for row in rows] == [50257] * 4
    assert rows[-1]["params"] == 2_127_057_600
    assert rows[-1]["parameter_bytes"] / GIB == pytest.approx(7.92, abs=0.005)
    assert rows[-1]["flops"] == pytest.approx(4.513e12, rel=2e-4)
    longest = ("--models=gpt2-xl", "--mode=forward", "--batch=1", "--seq=16384")
    longer = plan_row(*longest)
    assert longer["flops"] == pytest.approx(149.5e12, rel=4e-4)
    attention = ("scores", "value")
    share = sum(longer["flops_by_component"][part] for part in attention)
    assert share / longer["flops"] == pytest.approx(0.55, abs=0.005)


def test_the_time_of_training_at_a_given_mfu() -> None:
    found = plan_json(*MFU)
    assert found["query"]["tokens"] == 10**9
    assert found["query"]["mfu"] == 0.4
    (row,) = found["rows"]
    steps = 10**9 / (4 * 512)
    assert row["training"]["steps"] == steps
    assert row["training"]["seconds"] == pytest.approx(steps * row["flops"] / 4e13)
    assert row["training"]["mfu"] == pytest.approx(0.4)


def test_the_time_of_training_as_measured(tmp_path: Path) -> None:
    flag = measured(
        tmp_path,
        timed(STEP("tiny", 1, 128), 1e12),
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


def test_a_measurement_that_is_none_is_refused(tmp_path: Path) -> None:
    untimed = entry("model_size/small/fp32/train_step/batch:4/seq:128", 1.0)
    flag = measured(tmp_path, untimed)
    check_usage_error(run(flag), [str(tmp_path), "no timed row of model_size"])
    missing = tmp_path / "nothing.json"
    check_usage_error(run(f"--measured={missing}"), ["measured", str(missing)])


CHOICES = "none,attention,every_1,every_4,every_sqrt"
EIGHT = "name=m,d_model=256,d_ff=1024,layers=8,heads=8,vocab=1000"
CHECKPOINTED = (
    *(f"--model={EIGHT}", "--models=m", "--precision=bf16_autocast"),
    *("--batch=16", "--seq=128", f"--checkpoint={CHOICES}"),
)


def by_checkpointing(*flags: str) -> dict[str, dict[str, Any]]:
    return {row["checkpoint"]: row for row in plan_json(*flags)["rows"]}


def test_what_fits_grows_with_what_is_recomputed() -> None:
    rows = by_checkpointing(*CHECKPOINTED)
    assert list(rows) == CHOICES.split(",")
    none, attention, one = rows["none"], rows["attention"], rows["every_1"]
    for key in ("largest_seq", "largest_batch"):
        for some in (attention, rows["every_4"]):
            assert none[key] < some[key] < one[key]
    assert none["predicted_peak_bytes"] > 1.2 * one["predicted_peak_bytes"]
    assert none["recomputed_flops"] == 0
    # The blocks have all FLOPs except the head's; a third of them are forward.
    forward = one["flops"] / 3
    assert 0.9 * forward < one["recomputed_flops"] < forward
    assert rows["every_4"]["recomputed_flops"] == one["recomputed_flops"]
    assert attention["recomputed_flops"] < 0.1 * one["recomputed_flops"]
    # Recomputed FLOPs do not count as FLOPs of the model.
    assert {row["flops"] for row in rows.values()} == {none["flops"]}


def test_a_model_says_itself_what_it_recomputes() -> None:
    flags = (f"--model={EIGHT},checkpoint=every_2", "--models=m")
    assert list(by_checkpointing(*flags)) == ["every_2"]
    assert list(by_checkpointing(*flags, "--checkpoint=none")) == ["none"]


def test_help_lists_every_flag() -> None:
    text = plan("--help")
    for flag in (
        *("models", "model", "batch", "seq", "precision", "mode"),
        *("device_memory_gib", "json", "mfu", "peak_tflops", "measured"),
    ):
        assert f"  --{flag}" in text
    assert "flagfile" not in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--devicememory=8"], ["--devicememory", "'--device_memory_gib'"]),
        (["--models=smal"], ["'smal'", "tiny, small, medium", "mean 'small'"]),
        (["--models=small,"], ["''", "tiny, small"]),
        (["--models=xl,small,xl"], ["'xl'", "twice"]),
        (["--precision=fp16"], ["'fp16'", "bf16_autocast"]),
        (["--mode=train"], ["'train'", "train_step"]),
        (["--checkpoint=all"], ["checkpoint is 'all'", "every_sqrt"]),
        (["--batch=0"], ["batch is 0", "1 to 1048576"]),
        (["--seq=0"], ["seq is 0", "1 to 1048576"]),
        (["--device_memory_gib=0"], ["device_memory_gib is '0'", "at most 1000000"]),
        (["--mfu=1.5", "--peak_tflops=9"], ["--mfu: it is '1.5'", "1e-06 to 1"]),
        (["--mfu=0.5"], ["--mfu is 0.5", "only with --peak_tflops"]),
        (["--mfu=0.5", "--peak_tflops=-9"], ["peak_tflops: it is '-9'", "1e-06 to"]),
        (["--mfu=0.5", "--peak_tflops=9", "--measured=x"], ["without --measured"]),
        (["--mfu=0.5", "--mfu=0.4"], ["--mfu is given twice", "once"]),
        (["--peak_tflops=9"], ["peak_tflops is 9", "--mfu or --measured"]),
        (["--tokens=5"], ["tokens is 5", "only with --mfu or"]),
        (["--mfu=0.5", "--peak_tflops=9", "--tokens=0"], ["it is '0'", "1 to"]),
        (["--mfu=0.5", "--parallel"], ["unexpected '--mfu=0.5'"]),
        (["--json", "--", "--json"], ["'--json'", "unexpected argument"]),
        (["--json=maybe"], ["--json", "'maybe'"]),
        ([f"--model={MINE}", f"--model={MINE}"], ["'mine'", "twice"]),
        (["--model=name=mine"], ["d_model", "missing"]),
        (["--models=mine"], ["'mine'", "tiny, small"]),
        (["small"], ["'small'", "unexpected argument"]),
        (["--models=a\nb"], ["'a\\nb'"]),
        (["--batch=1048576", "--seq=1048576"], ["1048576", "smaller"]),
        ([f"--model={HUGE}", "--models=huge"], ["'huge'", "bytes to count"]),
        ([f"--model={MINE.replace('=6', '=2000')}"], ["layers is 2000", "1024"]),
        ([f"--model={MINE},attention=sdpa_cudnn"], ["'mine'", "sdpa_cudnn"]),
        (["--help", "--xyzzy"], ["--xyzzy"]),
    ],
    ids=lambda value: " ".join(value).replace("\n", " "),
)
def test_bad_usage(flags: list[str], words: list[str]) -> None:
    check_usage_error(run(*flags), words)


def test_the_program_ends_as_its_requests_do() -> None:
    for flags in (["--models=tiny"], ["--modle=x"]):
        command = [str(built("TRAINBENCH_PLAN")), *flags]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
        asked = ask(flags)
        assert ended.returncode == asked.returncode
        assert (ended.stdout, ended.stderr) == (asked.stdout, asked.stderr)


def test_unwritable_output_fails() -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [built("TRAINBENCH_PLAN"), "--models=tiny"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=600,
        )
    assert result.returncode == 1
    assert result.stderr == "tools/plan: cannot write to standard output\n"
