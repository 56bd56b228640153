# SPDX-License-Identifier: MIT
"""Compares the closed forms for a stack of blocks with PyTorch."""

import json
from typing import Any

import torch

import plan_program


def _memory(*flags: str) -> dict[str, float]:
    document = json.loads(plan_program.plan("--parallel", "--json", *flags))
    rows = [row for row in document["rows"] if row["group"] == "memory"]
    return {row["name"]: row["value"] for row in rows}


def test_what_a_stack_of_blocks_saves() -> None:
    flags = ("--d_model=32", "--d_ff=96", "--blocks=3")
    memory = _memory(*flags)
    sizes = [(32, 96), (96, 32)] * 3
    stack = torch.nn.Sequential(
        *(torch.nn.Linear(*size, bias=False, dtype=torch.bfloat16) for size in sizes)
    )
    parameters = list(stack.parameters())
    assert memory["params"] == sum(one.numel() for one in parameters)
    saved = {}

    def keep(tensor: Any) -> Any:
        saved[tensor.data_ptr()] = tensor.nbytes
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        stack(torch.ones(64, 32, dtype=torch.bfloat16, requires_grad=True))
    weights = {one.data_ptr() for one in parameters}
    activations = sum(size for at, size in saved.items() if at not in weights)
    assert activations == 64 * memory["saved_bytes_per_token"]
