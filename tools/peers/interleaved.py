# SPDX-License-Identifier: MIT
"""Times one case of this suite and the same work in PyTorch.

Both sides run in fresh processes with the same number of threads, warm-up calls and
samples. The processes come in pairs, and a coin decides which side of a pair runs
first, as in tools/ab. The result is the median over the pairs of (our time / PyTorch's
time) with its interval (reports/compare/intervals.py).
"""

import argparse
import contextlib
import json
import math
import os
import re
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.compare.intervals import Pair, pair_interval, pairs_for
from reports.results.files import write_files
from tools.ab_run.schedule import side_of
from tools.peers.flags import make_parser, positive

ROOT = Path(__file__).resolve().parents[2]
BINARY = ROOT / "build/release/benchmarks/trainbench"
ALPHA = 0.05  # how often the interval may miss the median


@dataclass(frozen=True)
class Case:
    name: str  # in this suite
    flags: list[str]  # for which our program has the case
    processes: int = 1


@dataclass(frozen=True)
class Peer:
    name: str
    module: str  # `python -m` runs it
    description: str
    add_flags: Callable[[argparse.ArgumentParser], None]
    case_of: Callable[[argparse.Namespace], Case]
    work: Callable[[argparse.Namespace], list[float]]  # samples in us


def environment(threads: int) -> dict[str, str]:
    """The threads per process and Gloo's interface, which are equal on both sides."""
    count = str(threads)
    return os.environ | {
        "OMP_NUM_THREADS": count,
        "MKL_NUM_THREADS": count,
        "GLOO_SOCKET_IFNAME": "lo",
    }


def output_of(
    what: str,
    command: Sequence[str | Path],
    arguments: argparse.Namespace,
    more: Mapping[str, str] | None = None,
) -> str:
    """Runs a command with `more` in its environment, and returns its standard output.

    Exits with the reason if the process fails or hangs.
    """
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(arguments.threads) | {"TMPDIR": folder, **(more or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(timeout=arguments.timeout)
        except subprocess.TimeoutExpired:
            sys.exit(f"{what}: no end within {arguments.timeout} s (--timeout)")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its ranks too
            process.wait()
    if process.returncode:
        last_words = errors[-2000:].strip()
        sys.exit(f"{what}: exit status {process.returncode}\n{last_words}")
    return output


def result_of(case: Case, arguments: argparse.Namespace) -> dict[str, Any]:
    """The result file of a fresh process of the built program that runs the case."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "result.json")
        command = [
            arguments.binary.resolve(),
            f"--benchmark_filter=^{re.escape(case.name)}$",
            f"--benchmark_out={out}",
            f"--samples_out={Path(folder, 'samples.jsonl')}",
            # Its ranks share the threads.
            f"--threads={arguments.threads * case.processes}",
            *case.flags,
            *arguments.ours_flag,
        ]
        output_of(f"{case.name}, ours", command, arguments)
        result: dict[str, Any] = json.loads(out.read_text())
        return result


def run_ours(case: Case, arguments: argparse.Namespace) -> dict[str, Any]:
    """The row of the case, from a fresh process of the built program."""
    rows: list[dict[str, Any]] = result_of(case, arguments)["benchmarks"]
    if len(rows) != 1:
        sys.exit(f"{case.name}: our program gave {len(rows)} rows instead of one")
    return rows[0]


def worker_command(peer: Peer, flags: Sequence[str], **counts: int) -> list[str]:
    given = [f"--{key}={value}" for key, value in counts.items()]  # the last one counts
    return [sys.executable, "-m", peer.module, "--worker", *flags, *given]


def run_rounds(
    name: str, count: int, ours: Callable[[], float], theirs: Callable[[], float]
) -> list[tuple[float, float]]:
    """Runs and prints `count` pairs of processes. Returns our times and theirs in
    us."""
    print(f"{'round':>5} {'ours us':>12} {name + ' us':>12} {'ours/' + name:>11}")
    key = secrets.token_hex(8)
    rounds = []
    for index in range(count):
        times = {}
        for position in (2 * index, 2 * index + 1):
            side = side_of(key, position)
            times[side] = ours() if side == "new" else theirs()
        us, theirs_us = times["new"], times["base"]
        rounds.append((us, theirs_us))
        cells = f"{us:>12.0f} {theirs_us:>12.0f} {us / theirs_us:>11.3f}"
        print(f"{index + 1:>5} {cells}", flush=True)
    return rounds


def interval_of(ratios: Sequence[float]) -> tuple[float, float] | None:
    """The interval of the median; None if there are too few rounds."""
    found = pair_interval([Pair(math.log(ratio)) for ratio in ratios], ALPHA)
    return found.ratios if found else None


def counts_of(row: Mapping[str, Any], arguments: argparse.Namespace) -> dict[str, int]:
    """The calls of each of PyTorch's processes: as many as ours, unless given."""
    return {
        "warmups": arguments.warmups or 1 + int(row.get("warmup_calls", 2)),
        "samples": arguments.samples or max(5, int(row.get("samples", 10))),
    }


def compare(
    peer: Peer, arguments: argparse.Namespace, flags: Sequence[str]
) -> dict[str, Any]:
    """Runs the rounds and prints each; `flags` is the command line."""
    case = peer.case_of(arguments)
    print(f"{case.name}, {arguments.threads} threads per process")
    # Our first process is not timed: it determines the calls of each process.
    counts = counts_of(run_ours(case, arguments), arguments)
    command = worker_command(peer, flags, **counts)

    def theirs() -> float:
        printed = output_of(f"{case.name}, {peer.name}", command, arguments)
        times: list[float] = json.loads(printed.splitlines()[-1])
        return statistics.median(times)

    def ours() -> float:
        return float(run_ours(case, arguments)["real_time"])

    rounds = run_rounds(peer.name, arguments.rounds, ours, theirs)
    ratios = [us / theirs_us for us, theirs_us in rounds]
    ratio, interval = statistics.median(ratios), interval_of(ratios)
    print(
        f"median ours/{peer.name}: {ratio:.3f}, "
        + (
            f"95 % interval {interval[0]:.3f} to {interval[1]:.3f}"
            if interval
            else f"an interval takes {pairs_for(ALPHA)} rounds"
        )
        + " (below 1: ours is faster)"
    )
    return {
        "case": case.name,
        "threads": arguments.threads,
        **{f"{peer.name}_{key}": count for key, count in counts.items()},
        "rounds": [
            {"ours_us": us, f"{peer.name}_us": theirs_us, "ratio": us / theirs_us}
            for us, theirs_us in rounds
        ],
        "median_ratio": ratio,
        "interval": interval,
    }


def add_common_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--rounds", type=positive, default=6, help="processes per side (%(default)s)")
    add("--threads", type=positive, help="per process (a share of the cores)")
    add("--warmups", type=positive, help="PyTorch's warm-up calls (as many as ours)")
    add("--samples", type=positive, help="PyTorch's timed calls (as many as ours)")
    add("--timeout", type=positive, default=600, help="s per process (%(default)s)")
    add("--binary", type=Path, default=BINARY, help="our program (the one in build/)")
    add(
        "--ours-flag",
        action="append",
        default=[],
        metavar="FLAG",
        help="one more flag for our program, such as --ours-flag=--warmup=5",
    )
    add("--json", type=Path, help="also write the result here")


def parse(peer: Peer, flags: Sequence[str]) -> argparse.Namespace:
    parser = make_parser(f"python -m {peer.module}", peer.description)
    peer.add_flags(parser)
    add_common_flags(parser)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(flags)
    if not arguments.worker and not arguments.binary.is_file():
        parser.error(f"--binary={arguments.binary}: no such file; run tools/bench once")
    cores = len(os.sched_getaffinity(0))
    processes = peer.case_of(arguments).processes
    arguments.threads = arguments.threads or max(1, cores // processes)
    return arguments


def main(peer: Peer, flags: Sequence[str]) -> None:
    arguments = parse(peer, flags)
    if arguments.worker:
        print(json.dumps(peer.work(arguments)))
        return
    result = compare(peer, arguments, flags)
    if arguments.json:
        write_files({arguments.json: json.dumps(result, indent=2) + "\n"})
