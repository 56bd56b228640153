# SPDX-License-Identifier: MIT
"""The flags of tools/export_aoti; tests/e2e/peers/test_compiled.py runs it."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from golden import check_golden, refusals
from tools.peers import export_aoti
from tools.peers.export_aoti import Step, description, export, package_path, parse
from tools.peers.pytorch_model import MODELS, ModelConfig

NANO = "name=nano,d_model=16,d_ff=32,layers=1,heads=2,vocab=64"


def test_a_model_is_a_name_or_the_sizes_that_the_program_takes() -> None:
    assert parse([]).model == ("tiny", MODELS["tiny"])
    assert parse(["--model=small"]).model == ("small", MODELS["small"])
    config = ModelConfig(16, 32, 1, 2, vocab=64)
    assert parse([f"--model={NANO}"]).model == ("nano", config)
    twin = ",attention=naive,implementation=textbook"
    assert parse([f"--model={NANO}{twin}"]).model == ("nano", config)


WRONG = f"""
    --model=huge; --model=name=nano,d_model=16; --model={NANO},depth=3;
    --model={NANO},attention=own; --model={NANO},implementation=fused;
    --model={NANO},tied_embeddings=2; --model={NANO},mlp=silu;
    --model={NANO.replace("heads=2", "heads=3")}; --model={NANO},kv_heads=3;
    --model={NANO},positions=learned,context=8 --seq=9;
    --model={NANO.replace("=16", "=0")}; --model={NANO.replace("name=nano,", "")};
    --model={NANO.replace("nano", "../../nano")};
    --model={NANO.replace("nano", "tiny")}; --precision=bf16; --d_head=0; --batch=0;
    --seq=x; --nonsense; --d_head=8 --precision=bf16_autocast"""


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    check_golden("errors/export_aoti.txt", refusals(parse, WRONG, capsys))
    # Attention alone has 16 bits without autocast.
    assert parse(["--d_head=8", "--precision=bf16"]).precision == "bf16"


def test_a_package_is_of_one_shape_and_says_what_it_is_for() -> None:
    arguments = parse([f"--model={NANO}", "--batch=4", "--seq=8", "--out=d"])
    path = package_path(arguments)
    assert path.parts[0] == "d"
    assert re.fullmatch(r"[A-Za-z0-9._]+_torch_\d+\.\d+\.\d+", path.parts[1])
    assert path.name == "nano-fp32-inference-4x8.pt2"
    attention = parse(["--d_head=16", "--mode=forward_backward", "--seq=8"])
    assert package_path(attention).name == "attention-fp32-forward_backward-1x8x16.pt2"
    for more, wanted in (
        ("", "16/32/1/2/64"),
        (",kv_heads=1", "16/32/1/2:1/64"),
        (",tied_embeddings=true", "16/32/1/2/64/tied"),
        (
            ",positions=learned,context=8,mlp=gelu",
            "16/32/1/2/64,mlp=gelu,positions=learned,context=8",
        ),
    ):
        chosen = parse([f"--model={NANO}{more}", "--seq=8"])
        assert description(chosen.model[1]) == wanted


def test_the_compiler_gets_no_weights_and_no_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []
    metadata = tmp_path / "x.wrapper_metadata.json"

    def compile_(*args: object, options: dict[str, object]) -> list[str]:
        calls.append((args, options))
        metadata.write_text(json.dumps(options["aot_inductor.metadata"]))
        return ["x.so", str(metadata)]

    packed: list[Any] = []

    def package(path: str, files: list[str]) -> None:
        packed.append((Path(path).name, files))
        Path(path).write_text("all")

    monkeypatch.setattr(export_aoti, "aot_compile", compile_)
    monkeypatch.setattr(export_aoti, "package_aoti", package)
    out = tmp_path / "made"
    flags = [f"--model={NANO}", "--seq=8", f"--out={out}", "--precision=bf16_autocast"]
    killed = package_path(parse(flags)).parent / f".{os.getpid()}"
    killed.mkdir(parents=True)  # as a killed call with this number left it
    path = export(parse(flags))
    killed.rmdir()
    assert path.is_relative_to(out)
    assert packed == [(path.name, ["x.so", str(metadata)])]
    # The file is complete and the only one.
    assert [one.read_text() for one in path.parent.iterdir()] == ["all"]
    (((program, (tokens,)), options),) = calls
    assert tokens.shape == (1, 8)
    assert options["aot_inductor.package_constants_in_so"] is False
    assert options["cpp.dynamic_threads"] is True
    stated = json.loads(metadata.read_text())
    assert float(stated.pop("compile_seconds")) >= 0
    assert stated == {"trainbench": "16/32/1/2/64", "gradients": ""}
    # The program's names, and the table of rotations for these positions.
    assert program.state_dict().keys() >= {"layers.0.attn.q_proj.weight"}
    assert program.get_buffer("rope.cos").shape == (8, 4)


@pytest.mark.parametrize("autocast", [False, True])
def test_a_step_is_traced_with_its_gradients(autocast: bool) -> None:
    model = Step(ModelConfig(16, 32, 1, 2, vocab=64, context=8), autocast=autocast)
    tokens, targets = torch.randint(64, (2, 3, 8))
    loss = model(tokens, targets)
    wanted = torch.autograd.grad(loss, tuple(model.parameters()))
    model.trace_gradients(tokens, targets)
    traced, *gradients = model(tokens, targets)
    torch.testing.assert_close(traced, loss)
    torch.testing.assert_close(tuple(gradients), wanted)
    # These inputs differ from the traced ones: they use other rows of the embeddings.
    assert not torch.equal(model(targets, tokens)[1], gradients[0])
