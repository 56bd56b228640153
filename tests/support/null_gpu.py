# SPDX-License-Identifier: MIT
"""Starts programs on null GPUs instead of real ones."""

import json
from pathlib import Path

from built import built
from tools.rehearsal.run import environment

# Runs on the device, which computes nothing, with the fewest samples possible.
FLAGS = ("--device=cuda", "--value_checks=skip", "--benchmark_min_time=0")
# Also runs the checks, whatever they find.
CHECKED = ("--device=cuda", "--value_checks=report", "--benchmark_min_time=0")


def library() -> Path:
    """The directory of the null GPU's libraries."""
    return built("TRAINBENCH_NULL_GPU_DIRECTORY")


def null_gpu(
    gpu: str = "h100", *, count: int = 1, fault: str = "", **extra: str
) -> dict[str, str]:
    """Returns variables to add; tools/null_gpu/core/fault.h explains `fault`."""
    added = environment(library(), gpu, count, {})
    return added | {"TRAINBENCH_NULL_GPU_FAULT": fault} | extra


def in_order(report: Path) -> dict[str, str]:
    """Ends each process in which streams access memory without an order.

    The other processes each append a line to `report`.
    """
    return {"TRAINBENCH_NULL_GPU_ORDER": "1", "TRAINBENCH_NULL_GPU_REPORT": str(report)}


def processes_without_accesses(report: Path) -> list[int]:
    """Returns the pids of processes with launches but without recorded accesses."""
    processes = [json.loads(line) for line in report.read_text().splitlines()]
    assert any(process["counters"]["launches"] for process in processes)
    return [
        process["pid"]
        for process in processes
        if process["counters"]["launches"] and not process["counters"]["accesses"]
    ]
