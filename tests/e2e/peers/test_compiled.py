# SPDX-License-Identifier: MIT
"""A package of AOTInductor, made by the command that the skipped row names."""

import shlex
import subprocess
import sys
from pathlib import Path

from program import NANO, Json, Program, load, without

ROOT = Path(__file__).resolve().parents[3]
FLAGS = (*NANO, "--benchmark_filter=^compiled/.*/fp32/", "--benchmark_out=a.json")
NAME = "compiled/{}/nano/fp32/inference/batch:1/seq:8"


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


def compiled_row(trainbench: Program, *flags: str) -> Json:
    document = run(trainbench, *flags)
    assert document["errors"] == document["skipped"] == []
    compiled: Json = document["benchmarks"][1]
    assert compiled["name"] == NAME.format("aoti")
    assert 0 < compiled["textbook_error"] < 1e-5
    return compiled


def test_the_row_says_the_command_and_the_command_makes_the_row(
    trainbench: Program,
) -> None:
    document = run(trainbench, *FLAGS)
    (eager,) = document["benchmarks"]
    (skipped,) = document["skipped"]
    assert eager["name"] == NAME.format("eager")
    assert skipped["name"] == NAME.format("aoti")
    make_package(trainbench, skipped)

    compiled = compiled_row(trainbench, *FLAGS)
    assert compiled["peak_bytes"] > 0
    assert "predicted_peak_bytes" not in compiled
    assert compiled["speedup"] > 0

    # The same name for another model: its weights have other sizes.
    other = "--model=name=nano,d_model=32,d_ff=32,layers=1,heads=2,vocab=64"
    document = run(trainbench, *without(FLAGS, "--model"), other)
    (error,) = document["errors"]
    assert "is for 16/32/1/2/64 on " in error["reason"]
    assert "not for 32/32/1/2/64 on " in error["reason"]

    (package,) = trainbench.directory.glob("packages/*.pt2")
    package.write_bytes(package.read_bytes()[:3000])
    document = run(trainbench, *FLAGS)
    assert [row["name"] for row in document["errors"]] == [NAME.format("aoti")]


def test_a_tied_head_has_one_of_its_names_in_the_package(trainbench: Program) -> None:
    (model,) = (flag for flag in FLAGS if flag.startswith("--model="))
    flags = (*without(FLAGS, "--model"), f"{model},tied_embeddings=true")
    (skipped,) = run(trainbench, *flags)["skipped"]
    make_package(trainbench, skipped)
    compiled_row(trainbench, *flags)
