# SPDX-License-Identifier: MIT
"""What the goldens, made with the PyTorch model, do not show of it."""

import pytest
import torch
from torch.nn import functional

from tools.peers.pytorch_model import (
    MODELS,
    Attention,
    LayerNorm,
    ModelConfig,
    RMSNorm,
    RotaryEmbedding,
    TransformerLM,
)


def test_small_has_the_published_parameter_count() -> None:
    with torch.device("meta"):
        model = TransformerLM(MODELS["small"])
    assert sum(p.numel() for p in model.parameters()) == 128_625_408
    assert len(list(model.parameters())) == 9 * 12 + 3


@pytest.mark.parametrize("kv_heads", [1, 2])
def test_fewer_heads_of_keys_are_shared_as_torch_sdpa_shares_them(
    kv_heads: int,
) -> None:
    torch.manual_seed(1)
    config = ModelConfig(24, 40, layers=2, heads=4, kv_heads=kv_heads, vocab=37)
    attention, rope = Attention(config).double(), RotaryEmbedding(6, 16).double()
    x = torch.randn(2, 11, 24, dtype=torch.float64)

    def heads(weight: torch.Tensor) -> torch.Tensor:
        parts: torch.Tensor = (x @ weight.T).unflatten(-1, (-1, 6))
        return parts.transpose(1, 2)

    q, k, v = (
        heads(proj.weight)
        for proj in (attention.q_proj, attention.k_proj, attention.v_proj)
    )
    assert k.shape == v.shape == (2, kv_heads, 11, 6)
    mixed = functional.scaled_dot_product_attention(
        rope(q), rope(k), v, is_causal=True, enable_gqa=True
    )
    expected = mixed.transpose(1, 2).flatten(-2) @ attention.output_proj.weight.T
    torch.testing.assert_close(attention(x, rope), expected)


@pytest.mark.parametrize("norm", [RMSNorm(24), LayerNorm(24, has_bias=True)])
def test_norms_of_bf16_are_computed_in_fp32(norm: torch.nn.Module) -> None:
    for seed, parameter in enumerate(norm.parameters()):
        torch.manual_seed(seed)
        torch.nn.init.normal_(parameter)
    narrow = torch.randn(5, 24).bfloat16() + 100
    assert torch.equal(norm(narrow), norm(narrow.float()).bfloat16())
