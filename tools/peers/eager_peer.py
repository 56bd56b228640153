# SPDX-License-Identifier: MIT
"""Times one model_size case of this suite against the same model in eager PyTorch.

    python tools/peers/eager_peer.py --rounds 5 --threads 2

Both sides run in fresh processes in the order A B B A ..., with the same number
of threads, warm-up calls and samples, so that neither side profits from a warm
machine. A step is forward, loss, backward and the release of the gradients.
The answer is the median over the rounds of (our median / eager median).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from interleaved import (
    BINARY,
    as_json,
    environment,
    median_ratio,
    run_ours,
    run_rounds,
)

MODES = ("inference", "forward", "forward_backward", "train_step")
PRECISIONS = ("fp32", "bf16_autocast")


def make_step(arguments: argparse.Namespace) -> Callable[[], None]:
    """One eager step; imports torch here so that the parent starts at once."""
    import torch
    from reference_model import MODELS, TransformerLM, cross_entropy

    torch.manual_seed(0)
    device = torch.device(arguments.device)
    if arguments.model not in MODELS:
        sys.exit(f"--model={arguments.model}: known models are {', '.join(MODELS)}")
    config = MODELS[arguments.model]
    with device:
        model = TransformerLM(config)
        shape = (2, arguments.batch, arguments.seq)
        tokens, targets = torch.randint(0, config.vocab, shape)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    autocast = torch.autocast(
        device.type, torch.bfloat16, enabled=arguments.precision == "bf16_autocast"
    )

    def inference() -> None:
        with torch.no_grad(), autocast:
            model(tokens)

    def forward() -> None:
        with autocast:
            model(tokens)

    def train() -> None:
        with autocast:
            loss = cross_entropy(model(tokens), targets)
        loss.backward()
        if arguments.mode == "train_step":
            optimizer.step()
        model.zero_grad(set_to_none=True)

    step = {"inference": inference, "forward": forward}.get(arguments.mode, train)
    if device.type != "cuda":
        return step

    def synchronized() -> None:
        step()
        torch.cuda.synchronize()

    return synchronized


def run_worker(arguments: argparse.Namespace) -> None:
    """Times the eager steps in this process and prints the samples in us."""
    import torch

    torch.set_num_threads(arguments.threads)
    step = make_step(arguments)
    for _ in range(arguments.warmups):
        step()
    samples = []
    for _ in range(arguments.samples):
        start = time.perf_counter()
        step()
        samples.append(1e6 * (time.perf_counter() - start))
    print(json.dumps(samples))


def run_eager(arguments: argparse.Namespace, warmups: int, samples: int) -> float:
    """Median step time in us of a fresh eager process."""
    keys = ("model", "mode", "precision", "batch", "seq", "threads", "device")
    command = [sys.executable, __file__, "--worker"]
    command += [f"--{key}={getattr(arguments, key)}" for key in keys]
    command += [f"--warmups={warmups}", f"--samples={samples}"]
    result = subprocess.run(
        command,
        env=environment(arguments.threads),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return statistics.median(json.loads(result.stdout))


def case_name(arguments: argparse.Namespace) -> str:
    return (
        f"model_size/{arguments.model}/{arguments.precision}/{arguments.mode}"
        f"/batch:{arguments.batch}/seq:{arguments.seq}"
    )


def compare(arguments: argparse.Namespace) -> dict:
    """Runs the rounds and prints each; times in us."""
    name = case_name(arguments)
    print(f"{name}, {arguments.threads} threads, {arguments.device}")
    flags = [f"--device={arguments.device}", *arguments.ours_flag]
    counts = {"warmups": arguments.warmups, "samples": arguments.samples}

    def ours() -> float:
        environ = environment(arguments.threads)
        row = run_ours(arguments.binary, name, flags, environ)
        # The first process is ours: it decides how much work both sides do.
        counts["warmups"] = counts["warmups"] or 1 + int(row.get("warmup_calls", 2))
        counts["samples"] = counts["samples"] or max(3, int(row.get("samples", 10)))
        return float(row["real_time"])

    def eager() -> float:
        return run_eager(arguments, **counts)

    rounds = run_rounds("eager", arguments.rounds, ours, eager)
    return {
        "case": name,
        "threads": arguments.threads,
        "eager_warmups": counts["warmups"],
        "eager_samples": counts["samples"],
        "rounds": as_json(rounds, "eager"),
        "median_ratio": median_ratio(rounds),
    }


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--binary", type=Path, default=BINARY, help="our program")
    parser.add_argument("--model", default="small", help="name in the models table")
    parser.add_argument("--mode", choices=MODES, default="forward_backward")
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--seq", type=int, default=128)
    parser.add_argument("--threads", type=int, default=cores)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--warmups", type=int, default=0, help="0: as many as ours")
    parser.add_argument("--samples", type=int, default=0, help="0: as many as ours")
    parser.add_argument(
        "--ours-flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="one more flag for our program, such as --ours-flag=--suite=paper",
    )
    parser.add_argument("--json", type=Path, help="also write the result here")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if min(arguments.rounds, arguments.threads, arguments.batch, arguments.seq) < 1:
        parser.error("--rounds, --threads, --batch and --seq must be positive")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    if arguments.worker:
        run_worker(arguments)
        return 0
    if not arguments.binary.exists():
        sys.exit(
            f"{arguments.binary} does not exist: run tools/bench once, or --binary"
        )
    try:
        result = compare(arguments)
    except subprocess.CalledProcessError as error:
        return error.returncode or 1
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
