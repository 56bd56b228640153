# SPDX-License-Identifier: MIT
"""Writes the reference numbers that the C++ model is tested against.

    export PYTHONPATH=.
    python tests/data/make_goldens.py           # write tests/data/golden_*.safetensors
    python tests/data/make_goldens.py --check   # compare with the committed files

Each file holds one small model and one batch: `tokens` and `targets` [B, T],
`param.<name>`, `logits` [B, T, V], `loss` (nats), `grad.<name>`, and
`adamw10.<name>`, the parameters after ten steps of torch.optim.AdamW.
"""

import argparse
import json
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save
from torch import Tensor

from tools.peers.pytorch_model import ModelConfig, TransformerLM, cross_entropy

DATA = Path(__file__).resolve().parent
CONFIG = ModelConfig(d_model=24, d_ff=40, layers=2, heads=3, vocab=37, context=7)
BATCH, SEQ, SEED, STEPS = 2, 7, 20, 10
ADAMW: dict[str, Any] = {
    "lr": 1e-2,
    "betas": (0.9, 0.999),
    "eps": 1e-8,
    "weight_decay": 0.01,
}
# Largest |difference| / max(1, |expected|). The same machine reproduces every
# bit; another one sums in another order, which moves FP32 results by up to 2e-6.
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def golden_path(dtype: torch.dtype) -> Path:
    return DATA / f"golden_{str(dtype).removeprefix('torch.')}.safetensors"


def metadata(dtype: torch.dtype) -> dict[str, str]:
    values = {
        "d_model": CONFIG.d_model,
        "d_ff": CONFIG.d_ff,
        "layers": CONFIG.layers,
        "heads": CONFIG.heads,
        "vocab": CONFIG.vocab,
        "batch": BATCH,
        "seq": SEQ,
        "seed": SEED,
        "torch": torch.__version__.partition("+")[0],
        "dtype": str(dtype).removeprefix("torch."),
    }
    return {key: str(value) for key, value in values.items()}


def make_model(dtype: torch.dtype) -> TransformerLM:
    """The model with random weights, drawn in FP64 so that both files agree."""
    torch.set_default_dtype(dtype)
    model = TransformerLM(CONFIG)
    torch.set_default_dtype(torch.float32)
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(
                parameter.shape, generator=generator, dtype=torch.float64
            )
            # Norm weights lie around 1 and differ, so that a test can see them.
            is_norm = parameter.dim() == 1
            parameter.copy_(1 + 0.2 * noise if is_norm else 0.2 * noise)
    return model


def make_goldens(dtype: torch.dtype) -> dict[str, Tensor]:
    """Every tensor of one golden file, by name."""
    torch.set_num_threads(1)  # the order of summation must not depend on cores
    model = make_model(dtype)
    generator = torch.Generator().manual_seed(SEED + 1)
    text = torch.randint(0, CONFIG.vocab, (BATCH, SEQ + 1), generator=generator)
    tokens, targets = text[:, :-1].contiguous(), text[:, 1:].contiguous()
    goldens = {"tokens": tokens, "targets": targets}

    def add(prefix: str, tensors: Mapping[str, Tensor]) -> None:
        for name, tensor in tensors.items():
            goldens[prefix + name] = tensor.detach().clone()

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


def serialize(tensors: dict[str, Tensor], info: dict[str, str]) -> bytes:
    """A safetensors file whose header is sorted: the library's order is random."""
    data = save(tensors, info)
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the data must start on 8 bytes
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def differences(dtype: torch.dtype) -> list[str]:
    """What differs between the committed file and a fresh computation."""
    path = golden_path(dtype)
    if not path.exists():
        return [f"{path.name}: missing"]
    expected, actual = load_file(path), make_goldens(dtype)
    found = [f"{path.name}: {name}" for name in expected.keys() ^ actual.keys()]
    for name in sorted(expected.keys() & actual.keys()):
        want, got = expected[name], actual[name]
        if want.dtype != got.dtype or want.shape != got.shape:
            found.append(f"{path.name}: {name} has another type or shape")
            continue
        error = ((got - want).abs() / want.abs().clamp(min=1)).max().item()
        # Written so that a NaN counts as a difference.
        if not error <= (TOLERANCE[dtype] if want.is_floating_point() else 0):
            found.append(f"{path.name}: {name} differs by {error:.3g}")
    with safe_open(path, "pt") as file:
        committed = dict(file.metadata() or {})
    fresh = metadata(dtype)
    found += [
        f"{path.name}: metadata {key}"
        for key in sorted(committed.keys() | fresh.keys())
        # Another torch is allowed as long as the numbers are the same.
        if key != "torch" and committed.get(key) != fresh.get(key)
    ]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    if arguments.check:
        found = [line for dtype in TOLERANCE for line in differences(dtype)]
        print("\n".join(found), file=sys.stderr, end="\n" if found else "")
        return 1 if found else 0
    DATA.mkdir(parents=True, exist_ok=True)
    for dtype in TOLERANCE:
        path = golden_path(dtype)
        path.write_bytes(serialize(make_goldens(dtype), metadata(dtype)))
        print(f"{path.name}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
