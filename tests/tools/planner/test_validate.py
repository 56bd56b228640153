# SPDX-License-Identifier: MIT
"""tools/validate: points as jobs, and their predictions."""

import re
from pathlib import Path
from typing import Any

import pytest

from plan_program import by_hand_file, plan, plan_row, run, table
from tools.planner.recipes import MOMENTS, TABLE, UNITS, read_table, recipes
from tools.planner.validation.main import main
from tools.planner.validation.points import Point, read_points

README = Path(__file__).parents[3] / "tools/planner/README.md"
MINE = "name=mine,d_model=256,d_ff=512,layers=4,heads=4,vocab=1000"


def by_hand(tmp_path: Path, **cells: str) -> Point:
    ((_, made),) = read_points(by_hand_file(tmp_path, **cells))
    return made()


@pytest.mark.parametrize(
    ("cells", "recomputed", "setting"),
    [
        ({}, 0.5, "implementation=fused,attention=own"),
        ({"checkpoint": "every_1"}, 0, "implementation=library,attention=sdpa"),
        (
            {"recipe": "megatron", "traits": "fp16 local unfused"},
            0.5,
            "attention=naive",
        ),
    ],
)
def test_what_a_job_by_hand_recomputes(
    tmp_path: Path, cells: dict[str, str], recomputed: float, setting: str
) -> None:
    point = by_hand(tmp_path, recomputed="0.5", **cells)
    assert point.job.recomputed == recomputed
    assert setting in point.job.model


def test_each_unit_of_a_recipe_has_a_formula() -> None:
    units = {unit for row in read_table(TABLE) for unit in row["unit"].split("_per_")}
    assert units <= {row["unit"] for row in read_table(UNITS)} | {"saved", ""}


def test_each_part_of_a_recipe_is_known() -> None:
    known = {
        *("static", "gradient", "reserved", *MOMENTS),
        *("precision", "implementation", "default"),
        *("needs", "one of", "at most one of"),
    }
    assert {row["part"] for row in read_table(TABLE)} <= known


def test_a_plan_has_the_items_of_its_recipe() -> None:
    flags = ("--models=GPT-2-124M", "--precision=bf16", "--seq=64", "--recipe=megatron")
    ranks = ("--tensor_ranks=4", "--shards=3", "--traits=bf16,te,hopper")
    row = plan_row(*flags, *ranks)
    recipe = row["recipe"]
    assert recipe["static"]["main weights"] == round(row["params"] * 4 / 3)
    assert recipe["peak"]["logits in fp32"] == 4 * 4 * 64 * 12565
    items = (*recipe["static"].values(), *recipe["peak"].values())
    assert recipe["peak_bytes"] == sum(items)


@pytest.mark.parametrize("name", recipes())
def test_the_peak_is_never_below_what_remains_between_steps(name: str) -> None:
    (precision, *_) = recipes()[name].named("precision", frozenset({"whole"}))
    flags = ("--models=GPT-2-124M", "--batch=1", "--seq=64", f"--precision={precision}")
    found = plan_row(*flags, f"--recipe={name}")["recipe"]
    assert found["peak_bytes"] >= found["static_bytes"]


def test_each_question_that_is_answered_has_a_command() -> None:
    text = README.read_text(encoding="utf-8")
    (model,) = re.findall(r"^```\n(--model=.*?)```", text, re.DOTALL | re.MULTILINE)
    model = model.replace("\\", "")
    commands = re.findall(r"`([MF]\b[^`]*)`", text.partition("| question | flags |")[2])
    recipe = "M --recipe=pytorch --precision=bf16 --shards=8"
    assert len(commands) >= 17
    for command in commands:
        flags = command.replace("F", recipe, 1) if command[0] == "F" else command
        plan(*flags.replace("M", model, 1).split())
    assert text.count("| no answer: ") == 1
    assert text.partition("| question | flags |")[2].count("? | ") == 17


@pytest.mark.parametrize("share", [0, 0.5])
def test_the_largest_batch_of_a_recipe_fits(share: float) -> None:
    flags = (f"--model={MINE},attention=sdpa", "--models=mine", "--precision=bf16")
    more = ("--recipe=torchtitan", f"--recomputed={share}", "--device_memory_gib=4")

    def recipe(batch: int) -> dict[str, Any]:
        row = plan_row(*flags, *more, f"--batch={batch}", "--seq=128")
        found: dict[str, Any] = row["recipe"]
        return found

    largest = recipe(2)["largest_batch"]
    assert largest > 16
    assert recipe(largest)["fits"]
    assert not recipe(largest + 1)["fits"]
    whole = plan_row(*flags, "--recipe=pytorch", "--batch=2", "--seq=128")
    assert whole["recipe"]["largest_batch"] is None


def test_llm_c_allocates_what_it_logs() -> None:
    """For -e d12 -b 56 -t 1024 -r 1: MiB of weights, gradients, moments, main weights
    and activations, rounded down."""
    model = (
        "--model=name=d12,d_model=768,d_ff=3072,layers=12,heads=12,vocab=50304,"
        "tied_embeddings=true,mlp=gelu,norm=layer,biases=all,positions=learned,"
        "context=1024,attention=sdpa"
    )
    flags = ("--models=d12", "--precision=bf16", "--batch=56", "--seq=1024")
    recipe = ("--recipe=llm.c", "--traits=cudnn,gelu")
    static = plan_row(model, *flags, *recipe)["recipe"]["static"]
    names = ("weights", "gradients", "first moments", "second moments", "main weights")
    state = [static.pop(name) // 2**20 for name in names]
    assert state == [237, 237, 474, 474, 474]
    del static["cuBLASLt's workspace"]
    inputs = 2 * 4 * 56 * 1024  # tokens and targets, which it does not log
    assert (sum(static.values()) - inputs) // 2**20 == 18_564


@pytest.mark.parametrize("more", ["--json", "points.tsv"])
def test_a_page_is_of_all_points_and_no_json(more: str) -> None:
    done = run("page", more, command=main)
    assert done.returncode == 2 and f"page has {more}; allowed: " in done.stderr


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"model": "a", "memory": "1"}, "has the columns memory; allowed: those of po"),
        ({}, "has no row"),
        ({"model": "a", "seq": "1"}, "lacks the columns d_model, d_ff, layers, heads"),
    ],
)
def test_a_file_of_other_columns_is_refused(
    tmp_path: Path, row: dict[str, str], error: str
) -> None:
    done = run("memory", str(table(tmp_path / "other.tsv", row)), command=main)
    assert done.returncode == 2
    assert f"other.tsv {error}" in done.stderr
