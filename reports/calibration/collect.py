# SPDX-License-Identifier: MIT
"""Runs one binary in many processes and keeps every repetition.

    .venv/bin/python -m reports.calibration.collect --binary <trainbench>

All processes do the same work, so every difference between their times is noise. The
file is saved after each process; an interrupted run continues.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from reports.calibration.samples import STORED, Samples, load, save
from reports.command import run_main
from reports.results.rows import grouped

# Small cases of five experiments, from a matrix product of 25 us to an optimizer
# step of many ms.
CASES = (
    "peak/op_overhead/|attention_scaling/sdpa_flash/fp32/forward/"
    "|model_size/tiny/fp32/forward/|optimizer/fused/tiny"
    "|softmax_vs_matmul/(qk|softmax_naive)/"
)
KEPT = ("device", "num_cpus", "os", "torch", "threads", "git_revision")


def run(binary: Path, flags: list[str], repetitions: int) -> dict[str, Any]:
    """Returns the result file of one process. Errors: CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "result.json")
        own = [f"--benchmark_repetitions={repetitions}", f"--benchmark_out={out}"]
        subprocess.run([str(binary), *flags, *own], capture_output=True, check=True)
        document: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return document


def add(samples: Samples, document: dict[str, Any], started_s: float) -> None:
    samples.started_s.append(round(started_s, 1))
    entries = (e for e in document["benchmarks"] if e["run_type"] == "iteration")
    for name, repetitions in grouped(entries, lambda entry: entry["name"]).items():
        times = [float(f"{entry['real_time']:.5g}") for entry in repetitions]
        samples.rows.setdefault(name, []).append(times)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=40)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--filter", default=CASES, help="which cases, by name")
    parser.add_argument("--out", type=Path, default=STORED)
    options = parser.parse_args(arguments)
    flags = [
        "--suite=smoke",
        "--threads=1",
        "--benchmark_min_time=0.05",
        f"--benchmark_filter={options.filter}",
    ]
    samples = load(options.out) if options.out.exists() else Samples({}, [], {})
    started = float(samples.about.get("first_process", time.time()))
    while (done := len(samples.started_s)) < options.processes:
        began = time.time() - started
        document = run(options.binary, flags, options.repetitions)
        add(samples, document, began)
        context = document["context"]
        samples.about.update({key: str(context[key]) for key in KEPT})
        samples.about.update(flags=" ".join(flags), first_process=f"{started:.3f}")
        save(samples, options.out)
        print(f"[{done + 1}/{options.processes}] {began:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    run_main("collect", main)
