# SPDX-License-Identifier: MIT
"""What tools/export_aoti understands; tests/e2e/peers/test_compiled.py runs it."""

from pathlib import Path

import pytest
import torch
from refused import check_refused

from tools.peers.export_aoti import (
    AutocastLM,
    description,
    device_name,
    export,
    package_name,
    parse,
)
from tools.peers.pytorch_model import MODELS, ModelConfig

NANO = "name=nano,d_model=16,d_ff=32,layers=1,heads=2,vocab=64"


def test_a_model_is_a_name_or_the_sizes_that_the_program_takes() -> None:
    assert parse([]).model == ("tiny", MODELS["tiny"])
    assert parse(["--model=small"]).model == ("small", MODELS["small"])
    config = ModelConfig(16, 32, 1, 2, vocab=64)
    assert parse([f"--model={NANO}"]).model == ("nano", config)
    twin = ",attention=naive,implementation=textbook"
    assert parse([f"--model={NANO}{twin}"]).model == ("nano", config)


@pytest.mark.parametrize(
    "flag",
    [
        "--model=huge",
        "--model=name=nano,d_model=16",
        f"--model={NANO},depth=3",
        f"--model={NANO},attention=own",
        f"--model={NANO},implementation=fused",
        f"--model={NANO},tied_embeddings=2",
        f"--model={NANO.replace('=16', '=0')}",
        f"--model={NANO.replace('name=nano,', '')}",
        f"--model={NANO.replace('nano', '../../nano')}",
        f"--model={NANO.replace('nano', 'tiny')}",
        *("--precision=bf16", "--batch=0", "--seq=x", "--device=tpu", "--nonsense"),
    ],
)
def test_wrong_usage_names_the_flag(
    flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_refused(lambda: parse([flag]), flag, capsys)


def test_a_package_is_of_one_shape_and_says_what_it_is_for() -> None:
    arguments = parse([f"--model={NANO}", "--batch=4", "--seq=8"])
    name, config = arguments.model
    assert package_name(name, arguments) == "nano-fp32-cpu-4x8.pt2"
    on = f" on {device_name('cpu')}"
    assert description(config, arguments) == f"16/32/1/2/64{on}"
    _, config = parse([f"--model={NANO},kv_heads=1"]).model
    assert description(config, arguments) == f"16/32/1/2:1/64{on}"
    _, config = parse([f"--model={NANO},tied_embeddings=true"]).model
    assert description(config, arguments) == f"16/32/1/2/64/tied{on}"


def test_the_compiler_gets_no_weights_and_no_number_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def compile_(program: object, **options: object) -> None:
        calls.append((program, options))

    monkeypatch.setattr(torch._inductor, "aoti_compile_and_package", compile_)
    flags = [f"--model={NANO}", "--seq=8", f"--out={tmp_path / 'made'}"]
    path = export(parse([*flags, "--precision=bf16_autocast"]))
    assert path == tmp_path / "made/nano-bf16_autocast-cpu-1x8.pt2"
    ((program, options),) = calls
    assert isinstance(program, torch.export.ExportedProgram)
    assert options["package_path"] == str(path)
    assert options["inductor_configs"] == {
        "aot_inductor.package_constants_in_so": False,
        "aot_inductor.metadata": {
            "trainbench": f"16/32/1/2/64 on {device_name('cpu')}"
        },
        "cpp.dynamic_threads": True,
    }
    # The program's names, and the table of rotations for these positions.
    assert program.state_dict.keys() >= {"layers.0.attn.q_proj.weight"}
    assert dict(program.named_buffers())["rope.cos"].shape == (8, 4)


def test_autocast_changes_no_name() -> None:
    config = ModelConfig(16, 32, 1, 2, vocab=64, context=8)
    model = AutocastLM(config)
    assert "layers.0.attn.q_proj.weight" in model.state_dict()
    with torch.no_grad():
        assert model(torch.zeros((1, 8), dtype=torch.int64)).dtype == torch.bfloat16
