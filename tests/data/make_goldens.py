# SPDX-License-Identifier: MIT
"""Writes the reference numbers that the C++ model is tested against.

    PYTHONPATH=. .venv/bin/python tests/data/make_goldens.py

writes tests/data/golden_*.pt. Each file holds one small model, its fields as `config`,
and one batch: `tokens` and `targets` [B, T], `param.<name>`, `logits` [B, T, V], `loss`
(nats), `grad.<name>`, and `adamw10.<name>`, the parameters after ten steps of
torch.optim.AdamW.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tools.peers.pytorch_model import ModelConfig, TransformerLM, cross_entropy

DATA = Path(__file__).resolve().parent
CONFIG = ModelConfig(d_model=24, d_ff=40, layers=2, heads=3, vocab=37, context=7)
CONFIGS = {  # without rotary positions a bias of keys has no gradient
    "": CONFIG,
    "gpt_": replace(
        CONFIG, mlp="gelu", norm="layer", biases="norms", positions="learned", context=9
    ),
    "biased_": replace(CONFIG, mlp="relu2", norm="layer", biases="all"),
}
BATCH, SEQ, SEED, STEPS = 2, 7, 20, 10
ADAMW: dict[str, Any] = {
    "lr": 1e-2,
    "betas": (0.9, 0.999),
    "eps": 1e-8,
    "weight_decay": 0.01,
}
# Another architecture adds formulas, and no other rounding.
FILES = [("", torch.float32), *((name, torch.float64) for name in CONFIGS)]


def golden_path(name: str, dtype: torch.dtype) -> Path:
    return DATA / f"golden_{name}{str(dtype).removeprefix('torch.')}.pt"


def config_text(name: str) -> str:
    sizes = ("d_model", "d_ff", "layers", "heads", "vocab")
    fields = ",".join(f"{key}={getattr(CONFIG, key)}" for key in sizes)
    return fields + CONFIGS[name].architecture


def make_model(config: ModelConfig, dtype: torch.dtype) -> TransformerLM:
    """The model with random weights, drawn in FP64 so that both files agree."""
    torch.set_default_dtype(dtype)
    model = TransformerLM(config)
    torch.set_default_dtype(torch.float32)
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(
                parameter.shape, generator=generator, dtype=torch.float64
            )
            # Norm weights lie around 1 and differ, so that a test can see them.
            is_norm = parameter.dim() == 1 and name.endswith("weight")
            parameter.copy_(1 + 0.2 * noise if is_norm else 0.2 * noise)
    return model


def make_goldens(name: str, dtype: torch.dtype) -> dict[str, Tensor]:
    """Every tensor of one golden file, by name."""
    torch.set_num_threads(1)  # the order of summation must not depend on cores
    model = make_model(CONFIGS[name], dtype)
    generator = torch.Generator().manual_seed(SEED + 1)
    text = torch.randint(0, CONFIG.vocab, (BATCH, SEQ + 1), generator=generator)
    tokens, targets = text[:, :-1].contiguous(), text[:, 1:].contiguous()
    goldens = {"tokens": tokens, "targets": targets}

    def add(prefix: str, tensors: Mapping[str, Tensor]) -> None:
        for key, tensor in tensors.items():
            goldens[prefix + key] = tensor.detach().clone()

    parameters = dict(model.named_parameters())
    add("param.", parameters)
    optimizer = torch.optim.AdamW(parameters.values(), **ADAMW)
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        logits = model(tokens)
        loss = cross_entropy(logits, targets)
        loss.backward()
        if step == 0:
            add("", {"logits": logits, "loss": loss})
            add(
                "grad.",
                {n: p.grad for n, p in parameters.items() if p.grad is not None},
            )
        optimizer.step()
    add("adamw10.", parameters)
    return goldens


def main() -> None:
    for name, dtype in FILES:
        path = golden_path(name, dtype)
        saved = {"config": config_text(name), **make_goldens(name, dtype)}
        torch.save(saved, path)
        print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
