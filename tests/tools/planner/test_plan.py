# SPDX-License-Identifier: MIT
"""tools/plan for single models."""

import functools
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from plan_program import PLAN, ask, check_usage_error, needs_plan, plan, run

pytestmark = needs_plan

GIB = 2**30
MODES = "--mode=inference,forward,forward_backward,train_step"
PRECISIONS = "--precision=fp32,tf32,bf16_autocast,bf16"
HUGE = "name=huge,d_model=1048576,d_ff=1048576,layers=128,heads=1"
TWO = "name=two,d_model=128,d_ff=512,layers=2,heads=4"
EACH = (f"--model={TWO}", "--models=two", MODES, PRECISIONS)
MINE = "name=mine,d_model=512,d_ff=2048,layers=6,heads=8"
PARAMS = {
    "small": 128_625_408,
    "medium": 423_183_360,
    "large": 969_411_840,
    "xl": 1_998_235_200,
    "2.7B": 3_406_809_600,
}
# Columns of bytes in the text table, and their keys in a JSON row.
BYTES = {
    "weights": "parameter_bytes",
    "gradients": "gradient_bytes",
    "optimizer": "optimizer_bytes",
    "saved": "saved_bytes",
    "per block": "saved_bytes_per_block",
    "peak": "predicted_peak_bytes",
    "moved": "bytes",
}
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": GIB, "TiB": 2**40, "PiB": 2**50}


@functools.cache
def plan_json(*flags: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(plan("--json", *flags))
    return document


def plan_row(*flags: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = plan_json(*flags)["rows"]
    (row,) = rows
    return row


def tables(text: str) -> list[tuple[str, list[dict[str, str]]]]:
    """Returns the title of each table, and its rows keyed by column."""
    found: list[tuple[str, list[dict[str, str]]]] = []
    previous, header = "", []
    for line in text.splitlines():
        cells = re.split(r"  +", line)
        if cells[0] == "model":
            header = cells
            found.append((previous, []))
        elif not line:
            header = []
        elif header:
            found[-1][1].append(dict(zip(header, cells, strict=True)))
        previous = line
    return found


def table(text: str) -> list[dict[str, str]]:
    """Returns the rows of the first tables, plus their table's precision and mode."""
    return [
        row | dict(zip(("precision", "mode"), title.split(), strict=True))
        for title, rows in tables(text)
        for row in rows
        if "max seq" in row
    ]


def only(text: str, title: str) -> list[dict[str, str]]:
    (rows,) = (rows for name, rows in tables(text) if name == title)
    return rows


def parse_bytes(cell: str) -> float:
    number, unit = cell.split()
    return float(number) * UNITS[unit]


def test_parameter_counts_are_exact() -> None:
    rows = table(plan("--mode=inference", "--device_memory_gib=0.001"))
    assert [row["model"] for row in rows] == ["tiny", *PARAMS]
    for row in rows[1:]:
        assert row["parameters"] == f"{PARAMS[row['model']]:,}"


def test_train_step_of_the_largest_model_needs_65_gib() -> None:
    row = plan_row("--models=2.7B", "--batch=4", "--seq=512", "--precision=fp32")
    assert row["predicted_peak_bytes"] == pytest.approx(65 * GIB, rel=0.02)
    assert row["fits"]


def test_text_has_the_numbers_of_the_json() -> None:
    text, rows = table(plan(*EACH)), plan_json(*EACH)["rows"]
    assert len(text) == len(rows) == 4 * 4
    for cells, row in zip(text, rows, strict=True):
        for key in ("model", "precision", "mode"):
            assert cells[key] == row[key]
        assert cells["parameters"] == f"{row['params']:,}"
        assert cells["max seq"] == str(row["largest_seq"])
        assert cells["fits"] == ("yes" if row["fits"] else "no")
        for column, key in BYTES.items():
            assert parse_bytes(cells[column]) == pytest.approx(row[key], rel=0.006)
        teraflop = row["flops"] / 1e12
        assert float(cells["TFLOP"]) == pytest.approx(teraflop, rel=0.006, abs=5e-4)


def test_text_says_what_was_asked_and_how_to_read_it() -> None:
    text = plan("--batch=2", "--seq=256", "--device_memory_gib=24", "--models=tiny")
    assert text.startswith("batch 2, seq 256, device memory 24 GiB\n")
    assert "maximum over a step" in text
    assert "TFLOP counts matmuls only" in text


@pytest.mark.parametrize(("batch", "seq"), [(4, 1), (64, 16), (4, 4096)])
def test_text_fits_140_columns(batch: int, seq: int) -> None:
    text = plan(f"--batch={batch}", f"--seq={seq}", "--models=tiny,2.7B")
    assert max(map(len, text.splitlines())) <= 140


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


def test_the_peak_is_the_highest_point_of_a_phase() -> None:
    for row in plan_json(*EACH)["rows"]:
        highest = max(row["moments"], key=lambda moment: moment["bytes"])
        assert row["predicted_peak_bytes"] == highest["bytes"]
        assert row["predicted_peak_moment"] == highest["name"]
    phases = [moment["phase"] for moment in row["moments"]]
    assert phases == ["forward", "loss", "backward", "optimizer"]
    (cells,) = only(plan("--models=2.7B"), "highest point of each phase")
    assert cells["peak at"].endswith("softmax of layer 31")
    assert parse_bytes(cells["backward"]) == pytest.approx(65 * GIB, rel=0.02)


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
    [(1, 16, "bf16"), (4, 80, "fp32"), (2**20, 2**20, "bf16_autocast")],
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


def test_nothing_fits_is_an_answer() -> None:
    row = plan_row("--models=2.7B", "--device_memory_gib=1")
    assert not row["fits"]
    assert row["largest_seq"] == 0


def test_a_model_of_the_user() -> None:
    mesh = f"--model={MINE.replace('mine', 'mesh')},vocab=32000"
    rows = plan_json("--device_memory_gib=0.001", mesh)["rows"]
    assert [row["model"] for row in rows] == ["tiny", *PARAMS, "mesh"]
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


def test_components_add_up() -> None:
    for row in plan_json(*EACH)["rows"]:
        assert sum(row["params_by_component"].values()) == row["params"]
        saved = row["saved_by_component"].values()
        assert sum(part["bytes"] for part in saved) == row["saved_bytes"]
        assert sum(row["flops_by_component"].values()) == row["flops"]
        is_update = row["mode"] == "train_step"
        assert row["adamw_flops"] == (14 * row["params"] if is_update else 0)


def test_components_of_the_largest_model() -> None:
    flags = ("--models=2.7B", "--batch=4", "--seq=512")
    row, text = plan_row(*flags), plan(*flags)
    assert row["params_by_component"]["ffn"] == 32 * 3 * 2560 * 10240
    scores, rows = 4 * 32 * 512**2, 4 * 32 * 512
    assert row["saved_by_component"]["softmax"]["bytes"] == 32 * (
        4 * (2 * scores + rows) + 8 * rows
    )
    assert row["flops_by_component"]["scores"] == 3 * 32 * 2 * 4 * 512**2 * 2560
    (parameters,) = only(text, "parameters by component")
    assert parameters["ffn"] == "2,516,582,400"
    assert parameters["norm"] == f"{65 * 2560:,}"
    (saved,) = only(text, "saved for the backward pass")
    assert saved["softmax"] == "8.02 GiB"
    (flops,) = only(text, "TFLOP by component")
    assert flops["ffn"] == "30.9"  # 3 * 2 * 2048 * 2516582400
    assert flops["optimizer"] == "0.048"


def test_the_tensors_that_a_block_saves() -> None:
    for row in plan_json(*EACH)["rows"]:
        saved = sum(tensor["bytes"] for tensor in row["saved_tensors_per_block"])
        assert saved == row["saved_bytes_per_block"]
    text = plan("--models=2.7B", "--batch=4", "--seq=512")
    _, _, rest = text.partition("\nsaved by one block\n")
    lines = [re.split(r"  +", line) for line in rest.partition("\n\n")[0].splitlines()]
    assert ["aten::mm", "80 MiB", "4x512x10240", "float ffn"] in lines
    assert ["aten::exp", "128 MiB", "4x32x512x512", "float softmax"] in lines
    assert ["aten::ge", "256 KiB", "512x512", "bool scores"] in lines
    # With several models, or without a backward pass, this table is omitted.
    assert "one block" not in plan("--models=tiny,small")
    assert "one block" not in plan("--models=tiny", "--mode=inference")


def test_the_largest_tensors_of_the_largest_model() -> None:
    flags = ("--models=2.7B", "--batch=4", "--seq=512")
    row = plan_row(*flags)
    assert row["residual_bytes"] == 20 * 2**20
    assert row["logit_bytes"] == 4 * 4 * 512 * 10000
    assert row["largest_tensor"] == {
        "name": "aten::bmm in forward",
        "component": "scores",
        "bytes": 128 * 2**20,
    }
    (tensors,) = only(plan(*flags), "single tensors")
    assert tensors == {
        "model": "2.7B",
        "residual": "20 MiB",
        "logits": "78.1 MiB",
        "largest": "128 MiB",
        "largest tensor": "aten::bmm in forward, scores",
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
    flags = ("--models=small", "--tokens=1e9", "--mfu=0.4", "--peak_tflops=100")
    document, text = plan_json(*flags), plan(*flags)
    assert document["query"]["tokens"] == 10**9
    assert document["query"]["mfu"] == 0.4
    (row,) = document["rows"]
    steps = 10**9 / (4 * 512)
    assert row["training"]["steps"] == steps
    assert row["training"]["seconds"] == pytest.approx(steps * row["flops"] / 4e13)
    assert row["training"]["mfu"] == pytest.approx(0.4)
    assert "training on 1,000,000,000 tokens" in text
    (line,) = only(text, "training")
    assert line["rate"] == "40 TFLOP/s"
    assert line["MFU"] == "40 %"
    assert line["at"] == "40 % of 100 TFLOP/s"
    assert line["time"].endswith(" h")


def timed(name: str, rate: float | None) -> dict[str, Any]:
    row = {"name": name, "run_name": name, "run_type": "iteration", "real_time": 1.0}
    return row if rate is None else row | {"flops_per_second": rate}


def measured(tmp_path: Path, *rows: dict[str, Any]) -> str:
    path = tmp_path / "result.json"
    lists: dict[str, Any] = {"skipped": [], "errors": [], "expectations": []}
    path.write_text(
        json.dumps({"context": {}, "benchmarks": rows, **lists, "complete": True})
    )
    return f"--measured={path}"


def test_the_time_of_training_as_measured(tmp_path: Path) -> None:
    step = "model_size/{}/fp32/train_step/batch:{}/seq:{}".format
    flag = measured(
        tmp_path,
        timed(step("tiny", 1, 128), 1e12),
        timed(step("tiny", 4, 128), 2e12),
        timed(step("tiny", 4, 256), 5e12),
        timed(step("tiny", 4, 128), 4e12),  # another repetition
        timed("memory/tiny/fp32/train_step/batch:4/seq:128", 9e12),
    )
    flags = ("--models=tiny,small", flag, "--batch=4", "--peak_tflops=10")
    tiny, small = plan_json(*flags, "--seq=128")["rows"]
    assert tiny["training"]["basis"] == step("tiny", 4, 128)
    assert tiny["training"]["flops_per_second"] == 3e12
    assert tiny["training"]["mfu"] == pytest.approx(0.3)
    assert tiny["training"]["seconds"] == pytest.approx(
        2**20 / 512 * tiny["flops"] / 3e12
    )
    assert small["training"]["seconds"] is None
    assert small["training"]["basis"] == "no row model_size/small/fp32/train_step"
    # For another shape, the row with the most tokens is used instead.
    tiny, _ = plan_json(*flags, "--seq=512")["rows"]
    assert tiny["training"]["basis"] == step("tiny", 4, 256)
    assert only(plan(*flags, "--seq=512"), "training")[1]["time"] == "-"


def test_a_measurement_that_is_none_is_refused(tmp_path: Path) -> None:
    untimed = timed("model_size/small/fp32/train_step/batch:4/seq:128", None)
    flag = measured(tmp_path, untimed)
    check_usage_error(run(flag), [str(tmp_path), "no timed row of model_size"])
    missing = tmp_path / "nothing.json"
    check_usage_error(run(f"--measured={missing}"), ["measured", str(missing)])
    check_usage_error(run("--measured=."), ["--measured: .", "directory"])
    check_usage_error(run("--measured=/dev/zero"), ["/dev/zero", "more than"])


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
        (["--modle=x"], ["--modle", "'--model'"]),
        (["--devicememory=8"], ["--devicememory", "'--device_memory_gib'"]),
        (["--xyzzy"], ["--xyzzy", "--help"]),
        (["--models=smal"], ["'smal'", "tiny, small, medium", "mean 'small'"]),
        (["--models=small,"], ["''", "tiny, small"]),
        (["--models=xl,small,xl"], ["'xl'", "twice"]),
        (["--precision=fp16"], ["'fp16'", "bf16_autocast"]),
        (["--precision=fp32,fp32"], ["'fp32'", "twice"]),
        (["--precision="], ["''", "bf16_autocast"]),
        (["--mode=train"], ["'train'", "train_step"]),
        (["--batch=0"], ["batch is 0", "1 to 1048576"]),
        (["--batch", "-4"], ["batch is -4", "1 to 1048576"]),
        (["--batch=four"], ["--batch", "'four'", "whole number"]),
        (["--batch=1.5"], ["--batch", "'1.5'", "whole number"]),
        (["--batch"], ["--batch", "no value"]),
        (["--batch=1", "--batch=2"], ["--batch", "twice"]),
        (["--seq=0"], ["seq is 0", "1 to 1048576"]),
        (["--seq=-1"], ["seq is -1", "1 to 1048576"]),
        (["--seq=1048577"], ["seq is 1048577", "1 to 1048576"]),
        (["--seq=99999999999999999999"], ["--seq", "whole number"]),
        (["--device_memory_gib=0"], ["device_memory_gib is 0", "above 0"]),
        (["--device_memory_gib=-80"], ["device_memory_gib is -80", "above 0"]),
        (["--device_memory_gib=nan"], ["device_memory_gib is nan", "above 0"]),
        (["--device_memory_gib=inf"], ["device_memory_gib is inf", "1048576"]),
        (["--device_memory_gib=80GB"], ["'80GB'", "a number"]),
        (["--mfu=1.5", "--peak_tflops=9"], ["--mfu: it is '1.5'", "1e-06 to 1"]),
        (["--mfu=-1", "--peak_tflops=9"], ["--mfu: it is '-1'", "1e-06 to 1"]),
        (["--mfu=nan", "--peak_tflops=9"], ["--mfu: it is 'nan'", "1e-06 to 1"]),
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
        ([f"--model={MINE.replace('512', '500')}"], ["d_model is 500", "divide"]),
        ([f"--model={MINE.replace('512', '72')}"], ["is 9", "even"]),
        ([f"--model={MINE.replace('mine', 'xl')}"], ["'xl'", "standard"]),
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
        ended = subprocess.run(
            [PLAN, *flags], capture_output=True, text=True, timeout=600
        )
        asked = ask(flags)
        assert ended.returncode == asked.returncode
        assert (ended.stdout, ended.stderr) == (asked.stdout, asked.stderr)


def test_unwritable_output_fails() -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [PLAN, "--models=tiny"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=600,
        )
    assert result.returncode == 1
    assert result.stderr == "tools/plan: cannot write to standard output\n"
