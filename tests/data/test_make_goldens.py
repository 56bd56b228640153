# SPDX-License-Identifier: MIT
"""The committed goldens are current, and writing them again changes no byte."""

import pytest
import torch

import make_goldens


@pytest.mark.parametrize(("name", "dtype"), make_goldens.FILES, ids=str)
def test_committed_goldens_are_what_the_generator_makes(
    name: str, dtype: torch.dtype
) -> None:
    assert make_goldens.differences(name, dtype) == []


def test_goldens_serialize_to_the_same_bytes() -> None:
    tensors = {"b": torch.ones(3), "a": torch.zeros(2, dtype=torch.int64)}
    info = {str(i): str(i) for i in range(20)}
    first, second = (make_goldens.serialize(tensors, info) for _ in range(2))
    assert first == second
