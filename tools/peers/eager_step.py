# SPDX-License-Identifier: MIT
"""A step of the PyTorch model, eager or compiled."""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from tools.peers.pytorch_model import MODELS, TransformerLM, cross_entropy

MODES = ("inference", "forward", "forward_backward", "train_step")


@dataclass(frozen=True)
class Step:
    """One call, and the tensors that outlive it."""

    run: Callable[[], Tensor]  # the loss, or the logits of a forward mode
    kept: Callable[[], list[Tensor]]


def make_step(arguments: argparse.Namespace, compiled: bool = False) -> Step:
    """The step in eager PyTorch, or with its forward pass and loss compiled. It is the
    forward pass, the loss, the backward pass and the release of the gradients."""
    torch.manual_seed(0)
    device = torch.device(arguments.device)
    config = MODELS[arguments.model]
    with device:
        model = TransformerLM(config)
        tokens, targets = torch.randint(
            0, config.vocab, (2, arguments.batch, arguments.seq)
        )
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    autocast = torch.autocast(
        device.type, torch.bfloat16, enabled=arguments.precision == "bf16_autocast"
    )
    has_loss = arguments.mode in ("forward_backward", "train_step")

    def forward(tokens: Tensor, targets: Tensor) -> Tensor:
        logits: Tensor = model(tokens)
        return cross_entropy(logits, targets) if has_loss else logits

    if compiled:
        forward = torch.compile(forward)

    def step() -> Tensor:
        with autocast, torch.set_grad_enabled(arguments.mode != "inference"):
            result = forward(tokens, targets)
        if has_loss:
            result.backward()
            if arguments.mode == "train_step":
                optimizer.step()
            model.zero_grad(set_to_none=True)
        if device.type == "cuda":
            torch.cuda.synchronize()
        return result.detach()

    def kept() -> list[Tensor]:
        moments = (t for state in optimizer.state.values() for t in state.values())
        return [*model.parameters(), *model.buffers(), *moments, tokens, targets]

    return Step(step, kept)


def timed(call: Callable[[], object], count: int) -> list[float]:
    """The times of `count` calls in us."""
    samples = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        samples.append(1e6 * (time.perf_counter() - start))
    return samples
