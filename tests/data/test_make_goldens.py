# SPDX-License-Identifier: MIT
"""The committed goldens are what their generator makes."""

import pytest
import torch

import make_goldens

# Absolute, and relative. The same machine reproduces every bit; another one sums in
# another order, which moves FP32 results by up to 2e-6.
TOLERANCE = {torch.float32: 5e-6, torch.float64: 5e-13}


@pytest.mark.parametrize(("name", "dtype"), make_goldens.FILES, ids=str)
def test_committed_goldens_are_what_the_generator_makes(
    name: str, dtype: torch.dtype
) -> None:
    committed = torch.load(make_goldens.golden_path(name, dtype))
    assert committed.pop("config") == make_goldens.config_text(name)
    near = TOLERANCE[dtype]
    made = make_goldens.make_goldens(name, dtype)
    torch.testing.assert_close(made, committed, rtol=near, atol=near)
