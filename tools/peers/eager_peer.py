# SPDX-License-Identifier: MIT
"""Times one model_size case of this suite beside the same model in eager PyTorch.

.venv/bin/python -m tools.peers.eager_peer --model=tiny --mode=train_step

A step is the forward pass, the loss, the backward pass and the release of the
gradients; interleaved.py says how the two sides are compared.
"""

import argparse
import sys
import time
from collections.abc import Callable

import torch

from tools.peers.interleaved import Case, Peer, main, positive
from tools.peers.pytorch_model import MODELS, TransformerLM, cross_entropy

MODES = ("forward", "forward_backward", "train_step")
PRECISIONS = ("fp32", "bf16_autocast")


def make_step(arguments: argparse.Namespace) -> Callable[[], None]:
    torch.manual_seed(0)
    device = torch.device(arguments.device)
    config = MODELS[arguments.model]
    with device:
        model = TransformerLM(config)
        shape = (2, arguments.batch, arguments.seq)
        tokens, targets = torch.randint(0, config.vocab, shape)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    autocast = torch.autocast(
        device.type, torch.bfloat16, enabled=arguments.precision == "bf16_autocast"
    )

    def step() -> None:
        with autocast:
            logits = model(tokens)
            if arguments.mode == "forward":
                return
            loss = cross_entropy(logits, targets)
        loss.backward()
        if arguments.mode == "train_step":
            optimizer.step()
        model.zero_grad(set_to_none=True)

    if device.type != "cuda":
        return step

    def synchronized() -> None:
        step()
        torch.cuda.synchronize()

    return synchronized


def work(arguments: argparse.Namespace) -> list[float]:
    torch.set_num_threads(arguments.threads)
    step = make_step(arguments)
    for _ in range(arguments.warmups):
        step()
    samples = []
    for _ in range(arguments.samples):
        start = time.perf_counter()
        step()
        samples.append(1e6 * (time.perf_counter() - start))
    return samples


def add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", choices=MODELS, default="small", help="(%(default)s)")
    add("--mode", choices=MODES, default="forward_backward", help="(%(default)s)")
    add("--precision", choices=PRECISIONS, default="fp32", help="(%(default)s)")
    add("--batch", type=positive, default=1, help="sequences (%(default)s)")
    add("--seq", type=positive, default=128, help="tokens of each (%(default)s)")
    add("--device", choices=("cpu", "cuda"), default="cpu", help="(%(default)s)")


def case_of(a: argparse.Namespace) -> Case:
    return Case(
        f"model_size/{a.model}/{a.precision}/{a.mode}/batch:{a.batch}/seq:{a.seq}",
        [
            f"--models={a.model}",
            f"--batch={a.batch}",
            f"--seq={a.seq}",
            f"--device={a.device}",
        ],
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
    main(PEER, sys.argv[1:])
