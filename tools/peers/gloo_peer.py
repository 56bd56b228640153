# SPDX-License-Identifier: MIT
"""Times one all_reduce case of this suite and torch.distributed with Gloo.

.venv/bin/python -m tools.peers.gloo_peer --ranks=2 --bytes=1048576

Both sides sum fp32 buffers over the loopback interface. A call takes as long as its
slowest rank; interleaved.py describes how the two sides are compared. Ours is faster if
the ratio is below 1.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing

from reports.command import run_main
from reports.compare.intervals import pairs_for
from reports.results.files import write_files
from tools.peers.flags import make_parser, positive
from tools.peers.interleaved import (
    ALPHA,
    Case,
    counts_of,
    interval_of,
    output_of,
    parse_common,
    run_ours,
    run_rounds,
    worker_command,
)


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


def _size(text: str) -> float:
    size = positive(text)
    if size % 4:
        raise argparse.ArgumentTypeError(f"'{text}'; allowed: a multiple of 4")
    return size


def case_of(a: argparse.Namespace) -> Case:
    return Case(
        f"all_reduce/gloo/ranks:{a.ranks}/bytes:{a.bytes}",
        ["--suite=paper", "--device=cpu", f"--ranks={a.ranks}"],
        processes=a.ranks,
    )


def compare(arguments: argparse.Namespace, flags: Sequence[str]) -> dict[str, Any]:
    """Runs the rounds and prints each; `flags` is the command line."""
    case = case_of(arguments)
    print(f"{case.name}, {arguments.threads} threads per process")
    # Our first process is not timed: it determines the calls of each process.
    counts = counts_of(run_ours(case, arguments), arguments)
    command = worker_command("gloo_peer", ["--worker", *flags], **counts)

    def run(side: str) -> float:
        if side == "ours":
            return float(run_ours(case, arguments)["real_time"])
        printed = output_of(f"{case.name}, {side}", command, arguments)
        times: list[float] = json.loads(printed.splitlines()[-1])
        return statistics.median(times)

    found = run_rounds(("ours", "torch"), arguments.rounds, run, float)
    pairs = list(zip(found["ours"], found["torch"], strict=True))
    ratios = [ours_us / torch_us for ours_us, torch_us in pairs]
    ratio, interval = statistics.median(ratios), interval_of(ratios)
    ends = f"an interval takes {pairs_for(ALPHA)} rounds"
    if interval:
        ends = f"95 % interval {interval[0]:.3f} to {interval[1]:.3f}"
    print(f"median ours/torch: {ratio:.3f}, {ends}")
    return {
        "case": case.name,
        "threads": arguments.threads,
        **{f"torch_{key}": count for key, count in counts.items()},
        "rounds": [
            {"ours_us": ours_us, "torch_us": torch_us, "ratio": ours_us / torch_us}
            for ours_us, torch_us in pairs
        ],
        "median_ratio": ratio,
        "interval": interval,
    }


def parse(flags: Sequence[str]) -> argparse.Namespace:
    parser = make_parser("python -m tools.peers.gloo_peer", __doc__)
    add = parser.add_argument
    add("--ranks", type=positive, default=2, help="processes (%(default)s)")
    add("--bytes", type=_size, default=100_000_000, help="per rank (%(default)s)")
    add("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parse_common(parser, flags)
    cores = len(os.sched_getaffinity(0))
    arguments.threads = arguments.threads or max(1, cores // arguments.ranks)
    return arguments


def main(flags: Sequence[str]) -> None:
    arguments = parse(flags)
    if arguments.worker:
        print(json.dumps(work(arguments)))
        return
    result = compare(arguments, flags)
    if arguments.json:
        write_files({arguments.json: json.dumps(result, indent=2) + "\n"})


if __name__ == "__main__":
    run_main("gloo_peer", main)
