# SPDX-License-Identifier: MIT
"""Memory that the system refuses, although it seemed free, costs one row."""

import re
import resource
from pathlib import Path

import pytest

from processes import wait_for
from program import NANO, NANO_FORWARD_NAME, OUT, Program, measured, without

GIB = 2**30
# The caching allocator reserves addresses for all of the machine's memory.
SYSTEM = "--cpu_allocator=system"
# An embedding of 1 GiB, and an output layer of the same size.
WIDE = "--model=name=wide,d_model=1024,d_ff=64,layers=1,heads=2,vocab=262144"


def available_bytes() -> int:
    text = Path("/proc/meminfo").read_text()
    found = re.search(r"MemAvailable:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else 0


def address_space(faults: Program) -> int:
    """Returns the program's address space with an idle case, as the system sees it."""
    with faults.started("--benchmark_filter=/hangs", SYSTEM) as process:
        wait_for(process, "fault/hangs")
        text = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(r"VmPeak:\s+(\d+) kB", text)
    assert found is not None
    return int(found[1]) * 1024


def test_a_refused_allocation_is_an_error_and_the_next_case_runs(
    trainbench: Program, faults: Program
) -> None:
    if available_bytes() < 4 * GIB:
        pytest.skip("needs 4 GiB of free memory, or the case is skipped")
    limit = address_space(faults) + 3 * GIB // 4
    done = trainbench.run(
        *without(NANO, "--models"),
        "--models=wide,nano",
        WIDE,
        SYSTEM,
        "--benchmark_filter=^model_size/(wide|nano)/fp32/forward/",
        OUT,
        code=None,
        preexec=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    document = trainbench.result()
    if document["skipped"]:
        pytest.skip("others have taken the memory since")
    assert done.returncode == 1, done.stderr
    assert document["complete"] is True
    (error,) = document["errors"]
    assert error["name"] == "model_size/wide/fp32/forward/batch:1/seq:8"
    assert "can't allocate memory: you tried to allocate" in error["reason"]
    (row,) = measured(document)
    assert row["name"] == NANO_FORWARD_NAME


def test_without_the_addresses_to_keep_pages_malloc_is_used(
    trainbench: Program, faults: Program
) -> None:
    limit = address_space(faults) + GIB
    trainbench.run(
        *(*NANO, f"--benchmark_filter=^{NANO_FORWARD_NAME}", OUT),
        preexec=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert trainbench.result()["context"]["cpu_allocator"] == "system"
