# SPDX-License-Identifier: MIT
"""Times one all_reduce case of this suite against torch.distributed with Gloo.

    python tools/peers/gloo_peer.py --ranks 2 --bytes 100000000 --rounds 5

Both sides run in fresh processes in the order A B B A ..., with the same number
of ranks, of OpenMP threads per rank and of calls, over the loopback interface,
on fp32 sums. A call lasts as long as its slowest rank; a side's time is the
median over its calls. The answer is the median over the rounds of (our time /
Python's time).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from interleaved import (
    BINARY,
    as_json,
    environment,
    median_ratio,
    run_ours,
    run_rounds,
)


def run_worker(arguments: argparse.Namespace) -> None:
    """One rank: times the calls and prints the samples in us."""
    import torch
    import torch.distributed as dist

    rank, ranks = arguments.rank, arguments.ranks
    torch.set_num_threads(arguments.threads)
    dist.init_process_group(
        "gloo",
        store=dist.FileStore(str(arguments.store), ranks),
        rank=rank,
        world_size=ranks,
        timeout=timedelta(seconds=arguments.timeout),
    )
    data = torch.full((arguments.bytes // 4,), rank + 1.0)
    dist.all_reduce(data)
    total = ranks * (ranks + 1) / 2
    if not torch.all(data == total):
        sys.exit(f"the sum over {ranks} ranks is {data[0].item()}, expected {total}")
    data.zero_()  # Sums of ones would overflow within 128 calls.
    samples = []
    for call in range(arguments.warmups + arguments.samples):
        dist.barrier()  # Otherwise a rank that is early would time the wait.
        start = time.perf_counter()
        dist.all_reduce(data)
        if call >= arguments.warmups:
            samples.append(1e6 * (time.perf_counter() - start))
    dist.destroy_process_group()
    print(json.dumps(samples))


def loopback(threads: int) -> dict[str, str]:
    return environment(threads) | {"GLOO_SOCKET_IFNAME": "lo"}


def worker_command(
    arguments: argparse.Namespace, rank: int, store: Path, **counts: int
) -> list[str]:
    keys = ("ranks", "bytes", "timeout")
    flags = {key: getattr(arguments, key) for key in keys} | counts
    return [
        *(sys.executable, __file__, "--worker", f"--rank={rank}", f"--store={store}"),
        *(f"--{key}={value}" for key, value in flags.items()),
    ]


def end_of(path: Path) -> str:
    return path.read_text(errors="replace")[-2000:].strip()


def wait_for(
    processes: list[subprocess.Popen[str]], folder: Path, timeout_s: float
) -> None:
    """Exits with the last words of the first rank that dies, or of a hung one."""
    deadline = time.monotonic() + timeout_s
    while any(process.poll() is None for process in processes):
        failed = [r for r, process in enumerate(processes) if process.poll()]
        if failed or time.monotonic() > deadline:
            break
        time.sleep(0.02)
    for rank, process in enumerate(processes):
        status = process.poll()
        if status:
            sys.exit(
                f"torch.distributed: rank {rank} of {len(processes)} died with status "
                f"{status}\n{end_of(folder / f'{rank}.err')}"
            )
    hung = [str(r) for r, process in enumerate(processes) if process.poll() is None]
    if hung:
        sys.exit(
            f"torch.distributed: no end within {timeout_s:g} s of rank "
            f"{', '.join(hung)} of {len(processes)} (--timeout)"
        )


def run_gloo(arguments: argparse.Namespace, **counts: int) -> float:
    """Median over the calls of the slowest rank's time in us, in fresh processes."""
    processes: list[subprocess.Popen[str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            for rank in range(arguments.ranks):
                with (
                    (folder / f"{rank}.out").open("w") as out,
                    (folder / f"{rank}.err").open("w") as err,
                ):
                    processes.append(
                        subprocess.Popen(
                            worker_command(arguments, rank, folder / "store", **counts),
                            env=loopback(counts["threads"]),
                            stdin=subprocess.DEVNULL,
                            stdout=out,
                            stderr=err,
                            text=True,
                        )
                    )
            wait_for(processes, folder, arguments.timeout)
        finally:
            for process in processes:
                process.kill()
                process.wait()
        ranks = range(arguments.ranks)
        samples = [json.loads((folder / f"{rank}.out").read_text()) for rank in ranks]
    return statistics.median(max(call) for call in zip(*samples, strict=True))


def case_name(arguments: argparse.Namespace) -> str:
    return f"all_reduce/gloo/ranks:{arguments.ranks}/bytes:{arguments.bytes}"


def compare(arguments: argparse.Namespace) -> dict[str, Any]:
    """Runs the rounds and prints each; times in us."""
    name = case_name(arguments)
    print(f"{name}, {arguments.threads} threads per rank")
    # Our ranks divide the threads of the whole.
    threads = f"--threads={arguments.threads * arguments.ranks}"
    flags = ["--suite=paper", "--device=cpu", threads, *arguments.ours_flag]
    counts = {key: getattr(arguments, key) for key in ("threads", "warmups", "samples")}

    def ours() -> float:
        environ = loopback(arguments.threads)
        row = run_ours(arguments.binary, name, flags, environ, arguments.timeout)
        threads = int(row.get("threads_per_rank", arguments.threads))
        if "p50_us" not in row or threads != arguments.threads:
            sys.exit(
                f"{name}: the row has no p50_us"
                if "p50_us" not in row
                else f"{name}: our ranks used {threads} threads, not "
                f"{arguments.threads}: give --threads={threads}"
            )
        # The first process is ours: it decides how many calls both sides make.
        counts["warmups"] = counts["warmups"] or 1 + int(row.get("warmup_calls", 2))
        counts["samples"] = counts["samples"] or max(5, int(row.get("samples", 10)))
        return float(row["p50_us"])

    def gloo() -> float:
        return run_gloo(arguments, **counts)

    rounds = run_rounds("torch", arguments.rounds, ours, gloo)
    return {
        "case": name,
        "threads_per_rank": arguments.threads,
        "torch_warmups": counts["warmups"],
        "torch_samples": counts["samples"],
        "rounds": as_json(rounds, "torch"),
        "median_ratio": median_ratio(rounds),
    }


def parse_arguments(flags: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--binary", type=Path, default=BINARY, help="our program")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--bytes", type=int, default=100_000_000, help="per rank")
    parser.add_argument("--threads", type=int, default=0, help="per rank; 0: a share")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--warmups", type=int, default=0, help="0: as many as ours")
    parser.add_argument("--samples", type=int, default=0, help="0: as many as ours")
    parser.add_argument("--timeout", type=float, default=300, help="s per process")
    parser.add_argument(
        "--ours-flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="one more flag for our program, such as --ours-flag=--warmup=5",
    )
    parser.add_argument("--json", type=Path, help="also write the result here")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--store", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args(flags)
    for key in ("ranks", "rounds"):
        if getattr(arguments, key) < 1:
            parser.error(f"--{key}={getattr(arguments, key)}: must be 1 or more")
    for key in ("threads", "warmups", "samples"):
        if getattr(arguments, key) < 0:
            parser.error(f"--{key}={getattr(arguments, key)}: must be 0 or more")
    if arguments.bytes < 4 or arguments.bytes % 4:
        parser.error(f"--bytes={arguments.bytes}: must be a positive multiple of 4")
    if not (math.isfinite(arguments.timeout) and arguments.timeout > 0):
        parser.error(f"--timeout={arguments.timeout}: must be above 0 and finite")
    if not arguments.worker and not arguments.binary.is_file():
        parser.error(f"--binary={arguments.binary}: no such file; run tools/bench once")
    arguments.threads = arguments.threads or max(1, cores // arguments.ranks)
    return arguments


def main(flags: list[str]) -> int:
    arguments = parse_arguments(flags)
    if arguments.worker:
        run_worker(arguments)
        return 0
    result = compare(arguments)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
