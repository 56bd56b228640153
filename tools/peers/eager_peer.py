# SPDX-License-Identifier: MIT
"""Times one model_size case of this suite and the same model in eager PyTorch.

.venv/bin/python -m tools.peers.eager_peer --model=tiny --mode=train_step

A step is the forward pass, the loss, the backward pass and the release of the
gradients; interleaved.py describes how the two sides are compared.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from reports.command import run_main
from tools.peers.flags import PRECISIONS, add_shape_flags
from tools.peers.interleaved import Case, Peer, main
from tools.peers.pytorch_model import MODELS, TransformerLM, cross_entropy

MODES = ("inference", "forward", "forward_backward", "train_step")


@dataclass(frozen=True)
class Step:
    """One call, and the tensors that outlive it."""

    run: Callable[[], Tensor]  # the loss, or the logits of a forward mode
    kept: Callable[[], list[Tensor]]


def make_step(arguments: argparse.Namespace, compiled: bool = False) -> Step:
    """The step in eager PyTorch, or with its forward pass and loss compiled."""
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


def work(arguments: argparse.Namespace) -> list[float]:
    torch.set_num_threads(arguments.threads)
    step = make_step(arguments)
    timed(step.run, arguments.warmups)
    return timed(step.run, arguments.samples)


def add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", choices=MODELS, default="small", help="(%(default)s)")
    add("--mode", choices=MODES, default="forward_backward", help="(%(default)s)")
    add("--precision", choices=PRECISIONS, default="fp32", help="(%(default)s)")
    add_shape_flags(parser)


def case_of(a: argparse.Namespace, experiment: str = "model_size") -> Case:
    shape = f"batch:{a.batch}/seq:{a.seq}"
    keys = ("mode", "precision", "batch", "seq", "device")
    return Case(
        f"{experiment}/{a.model}/{a.precision}/{a.mode}/{shape}",
        [f"--models={a.model}", *(f"--{key}={getattr(a, key)}" for key in keys)],
    )


PEER = Peer(
    "eager",
    "tools.peers.eager_peer",
    "Times one model_size case of this suite beside the same model in eager PyTorch.",
    add_flags,
    case_of,
    work,
)

if __name__ == "__main__":
    run_main("eager_peer", partial(main, PEER))
