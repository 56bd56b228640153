# SPDX-License-Identifier: MIT
"""Compares the closed forms for a stack of blocks with PyTorch."""

from typing import Any

import torch

from plan_program import plan_json


def test_what_a_stack_of_blocks_saves() -> None:
    flags = ("--parallel", "--d_model=32", "--d_ff=96", "--blocks=3")
    rows = [row for row in plan_json(*flags)["rows"] if row["group"] == "memory"]
    memory = {row["name"]: row["value"] for row in rows}
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
