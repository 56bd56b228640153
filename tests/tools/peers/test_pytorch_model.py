# SPDX-License-Identifier: MIT
"""Properties of the PyTorch model that a bug shared with our model cannot fake."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from torch.nn import functional

from tools.peers.pytorch_model import (
    ACTIVATIONS,
    MODELS,
    Attention,
    LayerNorm,
    ModelConfig,
    RMSNorm,
    RotaryEmbedding,
    TransformerLM,
    causal_attention,
    cross_entropy,
)

CONFIG = ModelConfig(d_model=24, d_ff=40, layers=2, heads=3, vocab=37, context=16)


@pytest.fixture(autouse=True)
def fixed_seed() -> None:
    torch.manual_seed(1)


@pytest.fixture
def double_precision() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def test_small_has_the_published_parameter_count() -> None:
    with torch.device("meta"):
        model = TransformerLM(MODELS["small"])
    assert sum(p.numel() for p in model.parameters()) == 128_625_408
    assert len(list(model.parameters())) == 9 * 12 + 3


def test_a_tied_head_has_no_weight_of_its_own() -> None:
    model = TransformerLM(replace(CONFIG, tied_embeddings=True))
    assert model.lm_head.weight is model.token_embeddings.weight
    assert len(list(model.parameters())) == 9 * 2 + 2


def test_the_architecture_says_which_parameters_there_are() -> None:
    gpt = replace(
        CONFIG, mlp="gelu", norm="layer", biases="all", positions="learned", context=9
    )
    assert gpt.architecture == (
        ",mlp=gelu,norm=layer,biases=all,positions=learned,context=9"
    )
    assert CONFIG.architecture == ""
    names = [name for name, _ in TransformerLM(gpt).named_parameters()]
    assert "position_embeddings.weight" in names
    assert len(names) == 2 * (6 + 6 + 4) + 2 + 3
    assert len(list(TransformerLM(replace(gpt, biases="norms")).parameters())) == (
        2 * (6 + 4) + 2 + 3
    )


@pytest.mark.usefixtures("double_precision")
def test_logits_do_not_depend_on_later_tokens() -> None:
    model = TransformerLM(CONFIG)
    tokens = torch.randint(0, CONFIG.vocab, (2, 9))
    changed = tokens.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % CONFIG.vocab
    before, after = model(tokens), model(changed)
    assert torch.equal(before[:, :5], after[:, :5])
    assert not torch.allclose(before[:, 5], after[:, 5])


@pytest.mark.usefixtures("double_precision")
def test_loss_gradient_matches_finite_differences() -> None:
    model = TransformerLM(CONFIG)
    text = torch.randint(0, CONFIG.vocab, (2, 6))
    tokens, targets = text[:, :-1], text[:, 1:]
    cross_entropy(model(tokens), targets).backward()
    for parameter in model.parameters():
        assert parameter.grad is not None
        index = int(parameter.grad.abs().argmax())
        with torch.no_grad():
            weight, losses = parameter.view(-1), []
            for step in (1e-5, -2e-5):
                weight[index] += step
                losses.append(cross_entropy(model(tokens), targets))
            weight[index] += 1e-5
        slope = (losses[0] - losses[1]) / 2e-5
        torch.testing.assert_close(
            parameter.grad.view(-1)[index], slope, rtol=1e-6, atol=1e-9
        )


@pytest.mark.usefixtures("double_precision")
def test_rope_scores_depend_on_the_distance_only() -> None:
    rope = RotaryEmbedding(d_head=8, context=16)
    q, k = (torch.randn(8).expand(16, 8) for _ in range(2))
    scores = rope(q) @ rope(k).T
    for distance in range(-15, 16):
        diagonal = scores.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    assert not torch.allclose(scores[0, 0], scores[0, 1])


@pytest.mark.usefixtures("double_precision")
def test_rope_rotates_interleaved_pairs() -> None:
    rope = RotaryEmbedding(d_head=4, context=3)
    x = torch.randn(3, 4)
    pairs = torch.view_as_complex(x.view(3, 2, 2))
    # theta^(-2i/4) is 1 for i = 0 and 0.01 for i = 1.
    angles = torch.arange(3.0)[:, None] * torch.tensor([1.0, 0.01])
    turned = pairs * torch.polar(torch.ones_like(angles), angles)
    torch.testing.assert_close(rope(x), torch.view_as_real(turned).flatten(-2))


@pytest.mark.usefixtures("double_precision")
def test_naive_attention_equals_torch_sdpa() -> None:
    q, k, v = (torch.randn(2, 3, 11, 8) for _ in range(3))
    expected = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(causal_attention(q, k, v), expected)


@pytest.mark.usefixtures("double_precision")
@pytest.mark.parametrize("kv_heads", [1, 2])
def test_fewer_heads_of_keys_are_shared_as_torch_sdpa_shares_them(
    kv_heads: int,
) -> None:
    config = replace(CONFIG, heads=4, kv_heads=kv_heads)
    attention, rope = Attention(config), RotaryEmbedding(6, 16)
    x = torch.randn(2, 11, 24)

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


def test_rms_norm_equals_torch_and_computes_bf16_in_fp32() -> None:
    norm = RMSNorm(24)
    torch.nn.init.normal_(norm.weight)
    x = torch.randn(5, 24)
    expected = functional.rms_norm(x, (24,), norm.weight, eps=1e-5)
    torch.testing.assert_close(norm(x), expected)
    narrow = x.bfloat16()
    assert torch.equal(norm(narrow), norm(narrow.float()).bfloat16())


def test_layer_norm_equals_torch_and_computes_bf16_in_fp32() -> None:
    norm = LayerNorm(24, has_bias=True)
    for parameter in norm.parameters():
        torch.nn.init.normal_(parameter)
    x = torch.randn(5, 24) + 100
    expected = functional.layer_norm(x, (24,), norm.weight, norm.bias, eps=1e-5)
    torch.testing.assert_close(norm(x), expected, rtol=1e-4, atol=1e-4)
    narrow = x.bfloat16()
    assert torch.equal(norm(narrow), norm(narrow.float()).bfloat16())


def test_activations_equal_torch() -> None:
    x = torch.randn(100)
    for name, expected in (
        ("swiglu", functional.silu(x)),
        ("gelu", functional.gelu(x)),
        ("relu2", functional.relu(x).square()),
    ):
        torch.testing.assert_close(ACTIVATIONS[name](x), expected)


@pytest.mark.usefixtures("double_precision")
def test_loss_equals_torch_cross_entropy() -> None:
    logits, targets = torch.randn(2, 7, 37) * 50, torch.randint(0, 37, (2, 7))
    expected = functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    torch.testing.assert_close(cross_entropy(logits, targets), expected)
