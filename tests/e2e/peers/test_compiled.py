# SPDX-License-Identifier: MIT
"""AOTInductor packages, made by the commands that skipped rows suggest."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from program import NANO, NANO_MODEL, Json, Program, without

ROOT = Path(__file__).resolve().parents[3]
FLAGS = (*NANO, "--runtime=eager,aoti")
AOTI = "--aoti=packages"
NAME = "compiled/{}/nano/fp32/{}/batch:1/seq:8"
_MODEL = "--benchmark_filter=^compiled/.*/nano/fp32/"
INFERENCE = (*FLAGS, _MODEL, "--mode=inference")
_GPT = "mlp=gelu,norm=layer,biases=all,positions=learned,context=8"
TIED = (
    *without(FLAGS, "--model"),
    *(f"{NANO_MODEL},tied_embeddings=true,{_GPT}", _MODEL),
    "--mode=forward_backward,train_step",
)
ATTENTION = (
    *FLAGS,
    "--benchmark_filter=^compiled/.*/attention/.*/forward_backward/",
    *("--precision=fp32", "--d_head=4"),
)


def command_of(skipped: Json) -> list[str]:
    program, *flags = shlex.split(skipped["reason"].partition("make it with: ")[2])
    assert program == "tools/export_aoti"
    return flags


@pytest.fixture(scope="module")
def trainbench(shared: Program) -> Program:
    """Also makes all packages, in one process, which loads PyTorch once."""
    commands = []
    for flags, reasons in ((INFERENCE, 1), (TIED, 2), (ATTENTION, 1)):
        document = shared.measure(*flags, AOTI)
        assert document["errors"] == []
        assert {row["name"].split("/")[1] for row in document["benchmarks"]} == {
            "eager"
        }
        skipped = document["skipped"]
        assert len(skipped) == reasons
        (command,) = {tuple(command_of(row)) for row in skipped}
        commands.append(list(command))
    make = f"from tools.peers.export_aoti import main\nfor a in {commands}: main(a)"
    subprocess.run(
        [sys.executable, "-c", make],
        check=True,
        cwd=shared.directory,
        env=shared.environment({"PYTHONPATH": str(ROOT)}),
    )
    return shared


def compiled_rows(trainbench: Program, *flags: str) -> list[str]:
    document = trainbench.measure(*flags, AOTI)
    assert document["errors"] == document["skipped"] == []
    rows = [row for row in document["benchmarks"] if "/aoti/" in row["name"]]
    for row in rows:
        # With so little attention the results may be bitwise equal.
        least = 0 if "/attention/" in row["name"] else 1e-12
        assert least <= row["textbook_error"] < 1e-5
        assert row["compile_seconds"] > 0
        assert row["peak_bytes"] > 0
        assert "predicted_peak_bytes" not in row
        assert row["speedup"] > 0
        # What a compiled pass keeps is unknown.
        assert (row["byte_ratio"] < 1) == ("/inference/" not in row["name"])
        # One program contains both passes.
        assert ("forward_us" in row) == ("/inference/" in row["name"])
        is_trained = "/nano/" in row["name"] and "/inference/" not in row["name"]
        assert ("loss" in row) == is_trained
    return [row["name"] for row in rows]


def test_the_command_of_the_row_makes_the_row(trainbench: Program) -> None:
    assert compiled_rows(trainbench, *INFERENCE) == [NAME.format("aoti", "inference")]


def test_gradients_are_those_of_the_parameters(trainbench: Program) -> None:
    """Covers a weight with two names; the package has only one of the names."""
    assert compiled_rows(trainbench, *TIED) == [
        NAME.format("aoti", mode) for mode in ("forward_backward", "train_step")
    ]


def test_attention_alone(trainbench: Program) -> None:
    (name,) = compiled_rows(trainbench, *ATTENTION)
    assert name.endswith("/forward_backward/batch:1/seq:8/d_head:4")


def test_a_package_of_other_weights_or_a_damaged_one_is_an_error(
    trainbench: Program,
) -> None:
    other = "--model=name=nano,d_model=32,d_ff=32,layers=1,heads=2,vocab=64"
    flags = (*without(INFERENCE, "--model"), other)
    (error,) = trainbench.measure(*flags, AOTI, code=1)["errors"]
    assert "is for 16/32/1/2/64, not for 32/32/1/2/64;" in error["reason"]

    damaged = trainbench.directory / "damaged"
    shutil.copytree(trainbench.directory / "packages", damaged)
    (package,) = damaged.glob("*/nano-fp32-inference-*.pt2")
    package.write_bytes(package.read_bytes()[:3000])
    document = trainbench.measure(*INFERENCE, "--aoti=damaged", code=1)
    (error,) = document["errors"]
    assert error["name"] == NAME.format("aoti", "inference")
