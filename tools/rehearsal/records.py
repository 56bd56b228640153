# SPDX-License-Identifier: MIT
"""The program's record of each case, as typed values."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.results.rows import Result


@dataclass(frozen=True)
class Kernel:
    name: str  # demangled
    family: str  # the arithmetic of a matrix product, or "other"
    launches: int


@dataclass(frozen=True)
class Phase:
    name: str
    counters: dict[str, int]  # tools/null_gpu/null_gpu.h
    kernels: list[Kernel]  # most frequent first


@dataclass(frozen=True)
class OutOfMemory:
    phase: str
    operator: str  # "" if unknown
    requested_bytes: int
    allocated_bytes: int
    reserved_bytes: int


@dataclass(frozen=True)
class Component:
    """A part of a call, and the least time that the GPU needs for it."""

    name: str
    flops: float
    bytes: float
    flops_us: float | None  # at the data sheet's rate
    bytes_us: float | None

    @property
    def least_us(self) -> float:
        return max(self.flops_us or 0, self.bytes_us or 0)


@dataclass(frozen=True)
class Rehearsal:
    name: str
    reason: str  # why the row was skipped or failed, else ""
    failed: bool
    # All below is None or empty for a case that was not rehearsed.
    device: str | None = None
    free_bytes: int | None = None  # before the case
    predicted_bytes: int | None = None  # of tensors
    tensor_bytes: int | None = None  # at the allocator's peak
    library_bytes: int | None = None  # in addition
    reserved_bytes: int | None = None  # the allocator's peak
    out_of_memory: OutOfMemory | None = None
    phases: tuple[Phase, ...] = ()
    components: tuple[Component, ...] = ()
    host_us: float | None = None  # to enqueue a call

    @property
    def fits(self) -> bool | None:
        return None if self.device is None else self.out_of_memory is None

    @property
    def unused_share(self) -> float | None:
        """The share of the reserved peak that no block used at the allocated peak."""
        if not self.reserved_bytes or self.tensor_bytes is None:
            return None
        return 1 - (self.tensor_bytes + (self.library_bytes or 0)) / self.reserved_bytes

    def count(self, counter: str) -> int:
        return sum(phase.counters.get(counter, 0) for phase in self.phases)


def _time_us(amount: float, per_second: float | None) -> float | None:
    return None if per_second is None else 1e6 * amount / per_second


def _components(record: dict[str, Any]) -> Iterator[Component]:
    for component in record["components"]:
        flops, moved = component["flops"], component["bytes"]
        if flops or moved:
            yield Component(
                component["name"],
                flops,
                moved,
                _time_us(flops, record.get("flops_per_second")) if flops else None,
                _time_us(moved, record.get("bytes_per_second")) if moved else None,
            )


def _phases(record: dict[str, Any]) -> Iterator[Phase]:
    for phase in record.get("phases", []):
        kernels = [Kernel(**kernel) for kernel in phase["kernels"]]
        yield Phase(phase["phase"], phase["counters"], kernels)


def _rehearsal(
    record: dict[str, Any], reason: str, failed: bool, host_us: float | None
) -> Rehearsal:
    peak, full = record["peak"], record.get("out_of_memory")
    return Rehearsal(
        record["name"],
        reason,
        failed,
        device=record["device"],
        free_bytes=record["free_bytes"],
        predicted_bytes=record["predicted_peak_bytes"],
        tensor_bytes=peak["allocated_bytes"] - peak["library_bytes"],
        library_bytes=peak["library_bytes"],
        reserved_bytes=peak["reserved_bytes"],
        out_of_memory=OutOfMemory(**full) if full else None,
        phases=tuple(_phases(record)),
        components=tuple(_components(record)),
        host_us=host_us,
    )


def rehearsals(directory: Path, result: Result) -> list[Rehearsal]:
    """All cases of the run, in its order; cases without a rehearsal come last."""
    paths = sorted(directory.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    records = {
        record["name"]: record
        for record in (json.loads(path.read_text("utf-8")) for path in paths)
    }
    rows = {row.name: ("", False, row.get("host_us")) for row in result.rows}
    rows |= {row.name: (row.reason, False, None) for row in result.skipped}
    rows |= {row.name: (row.reason, True, None) for row in result.errors}
    found = [
        _rehearsal(record, *rows[name])
        for name, record in records.items()
        if name in rows
    ]
    return found + [
        Rehearsal(name, reason, failed, host_us=host_us)
        for name, (reason, failed, host_us) in rows.items()
        if name not in records
    ]
