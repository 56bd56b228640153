# SPDX-License-Identifier: MIT
"""Packages of AOTInductor, made by the commands that skipped rows name."""

import shlex
import subprocess
import sys
from pathlib import Path

from program import NANO, Json, Program, load, without

ROOT = Path(__file__).resolve().parents[3]
FLAGS = (*NANO, "--runtime=eager,aoti", "--benchmark_out=a.json")
MODEL = (*FLAGS, "--benchmark_filter=^compiled/.*/nano/fp32/")
NAME = "compiled/{}/nano/fp32/{}/batch:1/seq:8"


def run(trainbench: Program, *flags: str) -> Json:
    done = trainbench.run(*flags, "--aoti=packages")
    assert done.code in (0, 1), done.err
    return load(trainbench.directory / "a.json")


def make_package(trainbench: Program, skipped: Json) -> None:
    command = shlex.split(skipped["reason"].partition("make it with: ")[2])
    assert command[0] == "tools/export_aoti"
    subprocess.run(
        [sys.executable, "-m", "tools.peers.export_aoti", *command[1:]],
        check=True,
        cwd=trainbench.directory,
        env=trainbench.environment({"PYTHONPATH": str(ROOT)}),
    )


def compiled_rows(trainbench: Program, *flags: str) -> list[Json]:
    document = run(trainbench, *flags)
    assert document["errors"] == document["skipped"] == []
    rows = [row for row in document["benchmarks"] if "/aoti/" in row["name"]]
    for row in rows:
        assert 0 < row["textbook_error"] < 1e-5
        assert row["compile_seconds"] > 0
        assert row["peak_bytes"] > 0
        assert "predicted_peak_bytes" not in row
        assert row["speedup"] > 0
    return rows


def test_the_row_says_the_command_and_the_command_makes_the_row(
    trainbench: Program,
) -> None:
    flags = (*MODEL, "--mode=inference")
    document = run(trainbench, *flags)
    (eager,) = document["benchmarks"]
    (skipped,) = document["skipped"]
    assert eager["name"] == NAME.format("eager", "inference")
    assert skipped["name"] == NAME.format("aoti", "inference")
    make_package(trainbench, skipped)
    (row,) = compiled_rows(trainbench, *flags)
    assert row["name"] == NAME.format("aoti", "inference")

    # The same name for another model: its weights have other sizes.
    other = "--model=name=nano,d_model=32,d_ff=32,layers=1,heads=2,vocab=64"
    document = run(trainbench, *without(flags, "--model"), other)
    (error,) = document["errors"]
    assert "is for 16/32/1/2/64, not for 32/32/1/2/64;" in error["reason"]

    (package,) = trainbench.directory.glob("packages/*/*.pt2")
    package.write_bytes(package.read_bytes()[:3000])
    document = run(trainbench, *flags)
    assert [row["name"] for row in document["errors"]] == [
        NAME.format("aoti", "inference")
    ]


def test_gradients_are_those_of_the_parameters(trainbench: Program) -> None:
    """Also of a weight that has two names, of which the package has one."""
    (model,) = (flag for flag in MODEL if flag.startswith("--model="))
    flags = (
        *without(MODEL, "--model"),
        f"{model},tied_embeddings=true",
        "--mode=forward_backward,train_step",
    )
    first, second = run(trainbench, *flags)["skipped"]
    make_package(trainbench, first)
    assert first["reason"] == second["reason"]
    rows = compiled_rows(trainbench, *flags)
    assert [row["name"] for row in rows] == [
        NAME.format("aoti", mode) for mode in ("forward_backward", "train_step")
    ]


def test_attention_alone(trainbench: Program) -> None:
    flags = (
        *FLAGS,
        "--benchmark_filter=^compiled/.*/attention/.*/forward_backward/",
        *("--precision=fp32", "--d_head=4"),
    )
    (skipped,) = run(trainbench, *flags)["skipped"]
    make_package(trainbench, skipped)
    (row,) = compiled_rows(trainbench, *flags)
    assert row["name"].endswith("/forward_backward/batch:1/seq:8/d_head:4")
