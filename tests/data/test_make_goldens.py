# SPDX-License-Identifier: MIT
"""The committed goldens are current, and writing them again changes no byte."""

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

import make_goldens

# Absolute, and relative. The same machine reproduces every bit; another one sums in
# another order, which moves FP32 results by up to 2e-6.
TOLERANCE = {torch.float32: 5e-6, torch.float64: 5e-13}


@pytest.mark.parametrize(("name", "dtype"), make_goldens.FILES, ids=str)
def test_committed_goldens_are_what_the_generator_makes(
    name: str, dtype: torch.dtype
) -> None:
    path = make_goldens.golden_path(name, dtype)
    made, committed = make_goldens.make_goldens(name, dtype), load_file(path)
    near = TOLERANCE[dtype]
    torch.testing.assert_close(made, committed, rtol=near, atol=near)
    with safe_open(path, "pt") as file:
        written = file.metadata()
    # Another torch is allowed as long as the numbers are the same.
    assert make_goldens.metadata(name, dtype) | {"torch": written["torch"]} == written


def test_goldens_serialize_to_the_same_bytes() -> None:
    tensors = {"b": torch.ones(3), "a": torch.zeros(2, dtype=torch.int64)}
    info = {str(i): str(i) for i in range(20)}
    first, second = (make_goldens.serialize(tensors, info) for _ in range(2))
    assert first == second
