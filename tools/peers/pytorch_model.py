# SPDX-License-Identifier: MIT
"""The Transformer language model of this suite, written a second time in PyTorch.

It serves two purposes: tests/data/make_goldens.py uses it to compute the values that
the C++ model is tested against, and step_table.py compares its time with the C++ model.
It follows the formulas literally and shares no code with that model. Shapes: B batch,
T sequence, D d_model, H heads, K = D / H, F d_ff, V vocabulary.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

ROPE_THETA = 10_000.0
NORM_EPS = 1e-5
# The fields of a model other than sizes, and their values; the first is the default.
ARCHITECTURE = {
    "mlp": ("swiglu", "gelu", "relu2"),
    "norm": ("rms", "layer"),
    "biases": ("none", "norms", "all"),
    "positions": ("rope", "learned"),
}


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of one model, counted in elements."""

    d_model: int
    d_ff: int
    layers: int
    heads: int
    vocab: int = 10_000
    context: int = 1_024
    kv_heads: int = 0  # heads of keys and values; 0: equal to `heads`
    tied_embeddings: bool = False  # the head's weight is the embeddings'
    mlp: str = "swiglu"
    norm: str = "rms"
    biases: str = "none"  # norms: only in LayerNorms
    positions: str = "rope"

    @property
    def d_head(self) -> int:
        return self.d_model // self.heads

    @property
    def key_value_heads(self) -> int:
        return self.kv_heads or self.heads

    @property
    def architecture(self) -> str:
        """Fields with other than default values, as the C++ FormatArchitecture()."""
        text = "".join(
            f",{field}={getattr(self, field)}"
            for field, (usual, *_) in ARCHITECTURE.items()
            if getattr(self, field) != usual
        )
        is_learned = self.positions == "learned"
        return f"{text},context={self.context}" if is_learned else text


# Sizes of the CS336 systems assignment (2025 handout); tiny is our own.
MODELS = {
    "tiny": ModelConfig(128, 512, 4, 4),
    "small": ModelConfig(768, 3072, 12, 12),
    "medium": ModelConfig(1024, 4096, 24, 16),
    "large": ModelConfig(1280, 5120, 36, 20),
    "xl": ModelConfig(1600, 6400, 48, 25),
    "2.7B": ModelConfig(2560, 10240, 32, 32),
}


class Linear(nn.Linear):
    """y = x W^T + b with W [out, in]; b is optional."""

    def reset_parameters(self) -> None:
        std = math.sqrt(2.0 / (self.in_features + self.out_features))
        nn.init.trunc_normal_(self.weight, std=std, a=-3 * std, b=3 * std)
        if self.bias is not None:
            nn.init.zeros_(self.bias)


class Embedding(nn.Embedding):
    """Row lookup in a table [V, D]."""

    def reset_parameters(self) -> None:
        nn.init.trunc_normal_(self.weight, std=1.0, a=-3.0, b=3.0)


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


class LayerNorm(RMSNorm):
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last axis.

    Computed in FP32 at least, returned in the input's type (Ba et al., 2016).
    """

    def __init__(self, d_model: int, *, has_bias: bool) -> None:
        super().__init__(d_model)
        self.bias = nn.Parameter(torch.zeros(d_model)) if has_bias else None

    def forward(self, x: Tensor) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = super().forward(wide - wide.mean(-1, keepdim=True))
        return (wide if self.bias is None else wide + self.bias).to(x.dtype)


def make_norm(config: ModelConfig) -> nn.Module:
    if config.norm == "layer":
        return LayerNorm(config.d_model, has_bias=config.biases != "none")
    return RMSNorm(config.d_model)


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
    """Causal multi-head self-attention, with rotary positions if given.

    If there are fewer heads of keys and values, neighboring heads of queries share
    one (grouped-query attention; Ainslie et al., 2023).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.d_head = config.d_head
        self.group = config.heads // config.key_value_heads
        d_keys = config.key_value_heads * config.d_head
        has_bias = config.biases == "all"
        self.q_proj = Linear(config.d_model, config.d_model, bias=has_bias)
        self.k_proj = Linear(config.d_model, d_keys, bias=has_bias)
        self.v_proj = Linear(config.d_model, d_keys, bias=has_bias)
        self.output_proj = Linear(config.d_model, config.d_model, bias=has_bias)

    def forward(self, x: Tensor, rope: RotaryEmbedding | None) -> Tensor:
        q, k, v = (
            proj(x).unflatten(-1, (-1, self.d_head)).transpose(1, 2)
            for proj in (self.q_proj, self.k_proj, self.v_proj)
        )
        if rope is not None:
            q, k = rope(q), rope(k)
        if self.group > 1:
            k, v = (shared.repeat_interleave(self.group, 1) for shared in (k, v))
        mixed = causal_attention(q, k, v)
        return self.output_proj(mixed.transpose(1, 2).flatten(-2))


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "swiglu": lambda z: z * torch.sigmoid(z),
    "gelu": lambda z: z * (1 + torch.erf(z / math.sqrt(2))) / 2,
    "relu2": lambda z: torch.relu(z) ** 2,
}


class FeedForward(nn.Module):
    """w2(f(w1 x)), or for SwiGLU w2(f(w1 x) * w3 x) (Shazeer, 2020)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        has_bias = config.biases == "all"
        self.activation = ACTIVATIONS[config.mlp]
        self.w1 = Linear(config.d_model, config.d_ff, bias=has_bias)
        self.w2 = Linear(config.d_ff, config.d_model, bias=has_bias)
        self.w3: Linear | None = None
        if config.mlp == "swiglu":
            self.w3 = Linear(config.d_model, config.d_ff, bias=has_bias)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.activation(self.w1(x))
        return self.w2(hidden if self.w3 is None else hidden * self.w3(x))


class Block(nn.Module):
    """Pre-norm residual block."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.ln1 = make_norm(config)
        self.attn = Attention(config)
        self.ln2 = make_norm(config)
        self.ffn = FeedForward(config)

    def forward(self, x: Tensor, rope: RotaryEmbedding | None) -> Tensor:
        x = x + self.attn(self.ln1(x), rope)
        return x + self.ffn(self.ln2(x))


class TransformerLM(nn.Module):
    """Tokens [B, T] to logits [B, T, V]."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.token_embeddings = Embedding(config.vocab, config.d_model)
        self.position_embeddings: Embedding | None = None
        self.rope: RotaryEmbedding | None = None
        if config.positions == "learned":
            self.position_embeddings = Embedding(config.context, config.d_model)
        else:
            self.rope = RotaryEmbedding(config.d_head, config.context)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.ln_final = make_norm(config)
        self.lm_head = Linear(config.d_model, config.vocab, bias=False)
        if config.tied_embeddings:
            self.token_embeddings.weight = self.lm_head.weight

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.token_embeddings(tokens)
        if self.position_embeddings is not None:
            positions = torch.arange(tokens.shape[-1], device=tokens.device)
            x = x + self.position_embeddings(positions)
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
