# SPDX-License-Identifier: MIT
"""Times one all_reduce case of this suite and torch.distributed with Gloo.

.venv/bin/python -m tools.peers.gloo_peer --ranks=2 --bytes=1048576

Both sides sum fp32 buffers over the loopback interface. A call takes as long as its
slowest rank; interleaved.py describes how the two sides are compared.
"""

import argparse
import json
import sys
import tempfile
import time
from datetime import timedelta
from functools import partial
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing

from reports.command import run_main
from tools.peers.flags import positive
from tools.peers.interleaved import Case, Peer, main


def _check_sum(data: torch.Tensor, rank: int, ranks: int) -> None:
    data.fill_(rank + 1)
    dist.all_reduce(data)
    total = ranks * (ranks + 1) / 2
    if not torch.all(data == total):
        sys.exit(f"the sum over {ranks} ranks is {data[0].item()}, expected {total}")


def run_rank(rank: int, arguments: argparse.Namespace, folder: str) -> None:
    """Times the calls; rank 0 writes the slowest rank's samples in us."""
    torch.set_num_threads(arguments.threads)
    dist.init_process_group(
        "gloo",
        store=dist.FileStore(f"{folder}/store", arguments.ranks),
        rank=rank,
        world_size=arguments.ranks,
        timeout=timedelta(seconds=arguments.timeout),
    )
    data = torch.empty(arguments.bytes // 4)
    _check_sum(data, rank, arguments.ranks)
    data.uniform_()
    samples = torch.empty(arguments.warmups + arguments.samples, dtype=torch.float64)
    for call in range(len(samples)):
        # The sums grow with each call, and are scaled before they become infinities.
        if call % 20 == 19:
            data.mul_(float(arguments.ranks) ** -20)
        dist.barrier()  # otherwise an early rank would time its wait for the others
        start = time.perf_counter()
        dist.all_reduce(data)
        samples[call] = 1e6 * (time.perf_counter() - start)
    dist.all_reduce(samples, dist.ReduceOp.MAX)
    if rank == 0:
        timed = samples[arguments.warmups :].tolist()
        Path(folder, "samples.json").write_text(json.dumps(timed))
    dist.destroy_process_group()


def work(arguments: argparse.Namespace) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(run_rank, (arguments, folder), arguments.ranks)
        samples: list[float] = json.loads(Path(folder, "samples.json").read_text())
        return samples


def _size(text: str) -> int:
    size = positive(text)
    if size % 4:
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: a multiple of 4")
    return size


def add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--ranks", type=positive, default=2, help="processes (%(default)s)")
    add("--bytes", type=_size, default=100_000_000, help="per rank (%(default)s)")


def case_of(a: argparse.Namespace) -> Case:
    return Case(
        f"all_reduce/gloo/ranks:{a.ranks}/bytes:{a.bytes}",
        ["--suite=paper", "--device=cpu", f"--ranks={a.ranks}"],
        processes=a.ranks,
    )


PEER = Peer(
    "torch",
    "tools.peers.gloo_peer",
    "Times one all_reduce case of this suite beside torch.distributed with Gloo.",
    add_flags,
    case_of,
    work,
)

if __name__ == "__main__":
    run_main("gloo_peer", partial(main, PEER))
