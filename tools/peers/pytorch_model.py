# SPDX-License-Identifier: MIT
"""The Transformer language model of this suite, written a second time in PyTorch.

It serves two purposes: tests/data/make_goldens.py computes with it the numbers that
the C++ model is tested against, and eager_peer.py times the C++ model beside it. It
follows the formulas literally and shares no code with the C++ model. Shapes: B batch,
T sequence, D d_model, H heads, K = D / H, F d_ff, V vocabulary.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

ROPE_THETA = 10_000.0
NORM_EPS = 1e-5


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of one model, counted in elements."""

    d_model: int
    d_ff: int
    layers: int
    heads: int
    vocab: int = 10_000
    context: int = 1_024
    kv_heads: int = 0  # heads of keys and values; 0: as many as of queries
    tied_embeddings: bool = False  # the head's weight is the embeddings'

    @property
    def d_head(self) -> int:
        return self.d_model // self.heads

    @property
    def key_value_heads(self) -> int:
        return self.kv_heads or self.heads


# Sizes of the CS336 systems assignment (2025 handout); tiny is our own.
MODELS = {
    "tiny": ModelConfig(128, 512, 4, 4),
    "small": ModelConfig(768, 3072, 12, 12),
    "medium": ModelConfig(1024, 4096, 24, 16),
    "large": ModelConfig(1280, 5120, 36, 20),
    "xl": ModelConfig(1600, 6400, 48, 25),
    "2.7B": ModelConfig(2560, 10240, 32, 32),
}


class Linear(nn.Module):
    """y = x W^T with W [out, in] and no bias."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        std = math.sqrt(2.0 / (d_in + d_out))
        weight = torch.empty(d_out, d_in)
        nn.init.trunc_normal_(weight, std=std, a=-3 * std, b=3 * std)
        self.weight = nn.Parameter(weight)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.weight)


class Embedding(nn.Module):
    """Row lookup in a table [V, D]."""

    def __init__(self, vocab: int, d_model: int) -> None:
        super().__init__()
        weight = torch.empty(vocab, d_model)
        nn.init.trunc_normal_(weight, std=1.0, a=-3.0, b=3.0)
        self.weight = nn.Parameter(weight)

    def forward(self, tokens: Tensor) -> Tensor:
        return nn.functional.embedding(tokens, self.weight)


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2) + eps) * weight over the last axis.

    Computed in FP32 at least, returned in the input's type (Zhang and Sennrich,
    2019, without the optional bias).
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + NORM_EPS)
        return (wide * scale * self.weight).to(x.dtype)


class RotaryEmbedding(nn.Module):
    """Rotates the pair (2i, 2i + 1) of position t by t * theta^(-2i / K).

    Su et al., 2021. The tables are [context, K / 2], computed in FP64 and stored
    in the default type.
    """

    def __init__(self, d_head: int, context: int) -> None:
        super().__init__()
        exponents = torch.arange(0, d_head, 2, dtype=torch.float64) / d_head
        positions = torch.arange(context, dtype=torch.float64)
        angles = torch.outer(positions, ROPE_THETA**-exponents)
        dtype = torch.get_default_dtype()
        self.register_buffer("cos", angles.cos().to(dtype), persistent=False)
        self.register_buffer("sin", angles.sin().to(dtype), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Rotates x [..., T, K] at positions 0 ... T - 1."""
        steps = x.shape[-2]
        cos = self.get_buffer("cos")[:steps]
        sin = self.get_buffer("sin")[:steps]
        even, odd = x[..., 0::2], x[..., 1::2]
        rotated = (even * cos - odd * sin, even * sin + odd * cos)
        return torch.stack(rotated, dim=-1).flatten(-2)


def softmax(x: Tensor) -> Tensor:
    """Softmax over the last axis in its five elementary passes."""
    weights = torch.exp(x - x.max(-1, keepdim=True).values)
    return weights / weights.sum(-1, keepdim=True)


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention of [B, H, T, K] tensors that materialises the T x T scores."""
    steps = q.shape[-2]
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    positions = torch.arange(steps, device=q.device)
    visible = positions[:, None] >= positions[None, :]
    return softmax(torch.where(visible, scores, -torch.inf)) @ v


class Attention(nn.Module):
    """Causal multi-head self-attention with rotary positions.

    Neighbouring heads of queries share one of keys and values where those have
    fewer (grouped-query attention; Ainslie et al., 2023).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.d_head = config.d_head
        self.group = config.heads // config.key_value_heads
        d_keys = config.key_value_heads * config.d_head
        self.q_proj = Linear(config.d_model, config.d_model)
        self.k_proj = Linear(config.d_model, d_keys)
        self.v_proj = Linear(config.d_model, d_keys)
        self.output_proj = Linear(config.d_model, config.d_model)

    def forward(self, x: Tensor, rope: RotaryEmbedding) -> Tensor:
        q, k, v = (
            proj(x).unflatten(-1, (-1, self.d_head)).transpose(1, 2)
            for proj in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = rope(q), rope(k)
        if self.group > 1:
            k, v = (shared.repeat_interleave(self.group, 1) for shared in (k, v))
        mixed = causal_attention(q, k, v)
        return self.output_proj(mixed.transpose(1, 2).flatten(-2))


class SwiGLU(nn.Module):
    """w2(silu(w1 x) * w3 x) with silu(z) = z * sigmoid(z) (Shazeer, 2020)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.w1 = Linear(config.d_model, config.d_ff)
        self.w2 = Linear(config.d_ff, config.d_model)
        self.w3 = Linear(config.d_model, config.d_ff)

    def forward(self, x: Tensor) -> Tensor:
        gate = self.w1(x)
        return self.w2(gate * torch.sigmoid(gate) * self.w3(x))


class Block(nn.Module):
    """Pre-norm residual block."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.ln1 = RMSNorm(config.d_model)
        self.attn = Attention(config)
        self.ln2 = RMSNorm(config.d_model)
        self.ffn = SwiGLU(config)

    def forward(self, x: Tensor, rope: RotaryEmbedding) -> Tensor:
        x = x + self.attn(self.ln1(x), rope)
        return x + self.ffn(self.ln2(x))


class TransformerLM(nn.Module):
    """Tokens [B, T] to logits [B, T, V]."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.token_embeddings = Embedding(config.vocab, config.d_model)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.ln_final = RMSNorm(config.d_model)
        self.lm_head = Linear(config.d_model, config.vocab)
        if config.tied_embeddings:
            self.token_embeddings.weight = self.lm_head.weight
        self.rope = RotaryEmbedding(config.d_head, config.context)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.token_embeddings(tokens)
        for layer in self.layers:
            x = layer(x, self.rope)
        return self.lm_head(self.ln_final(x))


def log_softmax(x: Tensor) -> Tensor:
    """Log of the softmax over the last axis."""
    shifted = x - x.max(-1, keepdim=True).values
    return shifted - shifted.exp().sum(-1, keepdim=True).log()


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean negative log likelihood, in nats, of targets [B, T]."""
    return -log_softmax(logits).gather(-1, targets.unsqueeze(-1)).mean()
