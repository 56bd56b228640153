# SPDX-License-Identifier: MIT
"""tools/validate: points as jobs, and their predictions."""

import json
from pathlib import Path
from typing import Any

import pytest

from plan_program import check_usage_error, needs_plan, plan, run
from tools.planner.recipes import Job, memory, read_table, recipes
from tools.planner.validation.__main__ import main
from tools.planner.validation.points import DATA, Point, read_points

SMALL = "gpt/gpt3_mcore_te_tp1_pp1_dist_optimizer_no_mmap_bin_files"


def table(path: Path, row: dict[str, str]) -> Path:
    path.write_text("\n".join("\t".join(line) for line in (row, row.values())))
    return path


def megatron(tmp_path: Path, **cells: str) -> Point:
    """A committed row with other cells."""
    rows = read_table(DATA / "megatron.tsv")
    row = next(row for row in rows if row["test"] == SMALL)
    changed = row | {key.replace("_", "-"): value for key, value in cells.items()}
    (point,) = read_points(table(tmp_path / "points.tsv", changed))
    return point


def test_a_row_of_megatron_is_a_job(tmp_path: Path) -> None:
    point = megatron(
        tmp_path, tensor_model_parallel_size="2", num_query_groups="4", swiglu="true"
    )
    assert point.measured == {"static": 552_128_512, "peak": 4_673_069_568}
    assert point.job == Job(
        "name=megatron,d_model=512,d_ff=2048,layers=12,heads=8,kv_heads=4,"
        "vocab=50257,pad_vocab=256,tied_embeddings=true,mlp=swiglu,norm=layer,"
        "biases=all,positions=learned,context=1024,implementation=fused,"
        "attention=naive",
        batch=4,
        seq=1024,
        tensor=2,
        shards=4,
        traits=frozenset({"a100", "te", "bf16", "unfused", "dropout"}),
    )
    plain = megatron(tmp_path, normalization="RMSNorm", position_embedding_type="rope")
    assert plain.job
    assert ",norm=rms,biases=all,positions=rope,imp" in plain.job.model


@pytest.mark.parametrize(
    ("cell", "value", "lacks"),
    [
        ("pipeline_model_parallel_size", "2", "pipeline parallelism"),
        ("context_parallel_size", "4", "context parallelism"),
        ("num_experts", "8", "experts"),
        ("test", "gpt/gpt_inference", "no training step"),
        ("test", "gpt/other", "arguments that the columns leave out"),
    ],
)
def test_what_no_job_can_have_is_named(
    tmp_path: Path, cell: str, value: str, lacks: str
) -> None:
    point = megatron(tmp_path, **{cell: value})
    assert (point.job, point.lacks) == (None, lacks)


def test_points_by_hand_that_say_bytes_are_jobs() -> None:
    points = {point.name: point for point in read_points(DATA / "points.tsv")}
    nemotron = points["23 Nemotron 15B"]
    assert nemotron.measured == {"static": 13_269_043_200, "peak": 28_160_194_560}
    assert nemotron.job
    assert nemotron.job.model.startswith(
        "name=megatron,d_model=6144,d_ff=24576,layers=32,heads=48,kv_heads=8,"
        "vocab=256000,pad_vocab=1024,mlp=relu2,norm=layer,biases=norms,"
    )
    assert (nemotron.job.tensor, nemotron.job.shards) == (8, 16)
    assert points["11 Llama-3.1 8B"].lacks == "bytes; there is '77.0 GiB'"


def test_the_items_of_a_recipe_add_up() -> None:
    traits = frozenset(
        {"bf16", "te", "a100", "dropout", "unfused", "sequence_parallel"}
    )
    row: dict[str, Any] = {
        **{"d_model": 8, "layers": 3, "heads": 2, "vocab": 100, "params": 1000},
        "checkpoint": "none",
        "saved_by_component": {"norm": {"bytes": 80}, "ffn": {"bytes": 50}},
    }
    job = Job("", batch=2, seq=4, tensor=4, shards=5, traits=traits)
    found = memory(job, recipes()["megatron"], row)
    mib = 2**20
    assert found.bytes_of("static") == 1000 * (2 + 4) + 200 * 12 + 68 * mib
    logits, scores, stream = 2 * 4 * 100, 2 * 2 * 4 * 4, 2 * 4 * 8 // 4
    assert found.bytes_of("peak") - found.bytes_of("static") == (
        6 * logits + stream + 2 * 3 * stream + 3 * 3 * scores + 80 // 4 + 50
    )


@needs_plan
def test_committed_points_are_predicted() -> None:
    done = run("memory", "--json", command=main)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    summary = document["summary"]
    assert summary["peak"]["points"] >= 26
    assert summary["peak"]["mean_absolute_error"] <= 0.04
    assert summary["peak without known causes"]["mean_absolute_error"] <= 0.03
    assert summary["static"]["mean_absolute_error"] <= 0.005
    assert {row["cause"] for row in document["points"] if row["cause"]} <= {
        "it has the bytes of unfused attention",
        "unknown",
    }
    named = {row["name"].split()[0] for row in document["lacking"]}
    assert "moe/gpt3_moe_mcore_te_ep8_resume_torch_dist_muon" in named


@needs_plan
def test_a_plan_has_the_items_of_its_recipe() -> None:
    flags = ("--models=GPT-2-124M", "--precision=bf16", "--seq=64", "--recipe=megatron")
    ranks = ("--tensor_ranks=4", "--shards=3", "--traits=bf16,te,hopper")
    (row,) = json.loads(plan(*flags, *ranks, "--json"))["rows"]
    recipe = row["recipe"]
    assert recipe["static"]["main weights"] == round(row["params"] * 4 / 3)
    assert recipe["peak"]["logits in fp32"] == 4 * 4 * 64 * 12565
    assert recipe["peak_bytes"] == sum(
        (*recipe["static"].values(), *recipe["peak"].values())
    )
    assert "recipe megatron, on a rank" in plan(*flags, *ranks)
    for wrong, words in (
        ("--recipe=zero", ["invalid choice: 'zero'"]),
        ("--traits=te", ["--traits is 'te'", "only with --recipe"]),
    ):
        check_usage_error(run(*flags[:3], wrong), words)
    check_usage_error(run(*flags, "--traits=gpu"), ["'gpu'", "allowed: a100, bf16"])
    check_usage_error(
        run("--models=tiny", "--recipe=megatron"), ["--precision is fp32"]
    )


@needs_plan
def test_a_file_of_other_columns_is_refused(tmp_path: Path) -> None:
    file = table(tmp_path / "other.tsv", {"model": "a"})
    done = run("memory", str(file), command=main)
    assert done.returncode == 2
    assert "has the columns model; allowed: the columns of points.tsv" in done.stderr
