# SPDX-License-Identifier: MIT
"""A rehearsal as JSON: what the program recorded of each case
(fixtures/runner/rehearsal.h), and what follows from it."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports.results.kernel_names import bare
from reports.results.rows import Result

Json = dict[str, Any]


def _family(kernel: Mapping[str, Any]) -> str:
    """The arithmetic of a matrix product, or the common function of other kernels."""
    if kernel["family"] == "other":
        return bare(kernel["name"])
    return f"{kernel['family']} product"


def _phase(phase: Json) -> Json:
    """tools/null_gpu/core/counters.h has the counters; kernels have demangled names;
    these and families are most frequent first."""
    families = Counter[str]()
    for kernel in phase["kernels"]:
        families[_family(kernel)] += kernel["launches"]
    return {
        "name": phase["phase"],
        "counters": phase["counters"],
        "kernels": phase["kernels"],
        "families": dict(families.most_common()),
    }


def _component(component: Json, record: Json) -> Json:
    """Adds the least time that the GPU needs, at the data sheet's rates."""
    found = dict(component)
    for what in ("flops", "bytes"):
        rate = record.get(f"{what}_per_second")
        known = rate is not None and component[what]
        found[f"{what}_us"] = 1e6 * component[what] / rate if known else None
    least_us = max(found["flops_us"] or 0, found["bytes_us"] or 0)
    return found | {"computed_least_us": least_us}


def _recorded(record: Json) -> Json:
    peak, full = record["peak"], record.get("out_of_memory")
    used, reserved = peak["allocated_bytes"], peak["reserved_bytes"]
    return {
        "free_bytes": record["free_bytes"],  # before the case
        "predicted_bytes": record["predicted_peak_bytes"],  # of tensors
        "tensor_bytes": used - peak["library_bytes"],  # at the allocator's peak
        "library_bytes": peak["library_bytes"],  # in addition
        "reserved_bytes": reserved,  # the allocator's peak
        "out_of_memory": full,
        "phases": [_phase(phase) for phase in record.get("phases", [])],
        "components": [
            _component(component, record)
            for component in record["components"]
            if component["flops"] or component["bytes"]
        ],
        "fits": full is None,
        # The share of the reserved peak that no block used at the allocated peak.
        "unused_share": 1 - used / reserved if reserved else None,
    }


def _case(
    name: str, status: str, reason: str = "", host_us: float | None = None
) -> Json:
    """A case without its record. `reason` is why it was skipped or failed, else "";
    `host_us` is the time to enqueue a call."""
    values = ("free", "predicted", "tensor", "library", "reserved")
    return {
        "name": name,
        "reason": reason,
        **dict.fromkeys(f"{value}_bytes" for value in values),
        "out_of_memory": None,
        "phases": [],
        "components": [],
        "host_us": host_us,
        "status": status,
        "fits": None,
        "unused_share": None,
        # If the GPU takes less time than this, this machine's host is the slower one.
        "launch_bound_below_us": host_us,
    }


def document(gpu: str, directory: Path, result: Result) -> Json:
    """All cases of the run, in its order; those without a record, which were not
    rehearsed, come last. Bytes and counts are exact; computed_least_us is computed."""
    good = (_case(row.name, "good", host_us=row.get("host_us")) for row in result.rows)
    skipped = (_case(row.name, "skipped", row.reason) for row in result.skipped)
    failed = (_case(row.name, "failed", row.reason) for row in result.errors)
    cases = {case["name"]: case for case in (*good, *skipped, *failed)}
    paths = sorted(directory.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    every = (json.loads(path.read_text("utf-8")) for path in paths)
    records = {one["name"]: one for one in every if one["name"] in cases}
    rehearsed = {name: cases[name] | _recorded(one) for name, one in records.items()}
    devices = sorted({record["device"] for record in records.values()})
    others = {name: case for name, case in cases.items() if name not in rehearsed}
    both = [*rehearsed.values(), *others.values()]
    return {"gpu": gpu, "devices": devices, "cases": both}
