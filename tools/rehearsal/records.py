# SPDX-License-Identifier: MIT
"""A rehearsal as JSON: what the program recorded of each case
(fixtures/prediction/rehearsal.h), and what follows from it."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from reports.results.kernel_names import bare
from reports.results.rows import Result

Json = dict[str, Any]
_BYTES = (
    *("free_bytes", "predicted_bytes"),
    *("tensor_bytes", "library_bytes", "reserved_bytes"),
)


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
    return phase | {"families": dict(families.most_common())}


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
    used = record["tensor_bytes"] + record["library_bytes"]
    reserved = record["reserved_bytes"]
    return {
        **{key: record[key] for key in (*_BYTES, "out_of_memory")},
        "phases": [_phase(phase) for phase in record["phases"]],
        "components": [
            _component(component, record)
            for component in record["components"]
            if component["flops"] or component["bytes"]
        ],
        "fits": record["out_of_memory"] is None,
        # The share of the reserved peak that no block used at the allocated peak.
        "unused_share": 1 - used / reserved if reserved else None,
    }


def _case(
    name: str, status: str, reason: str = "", host_us: float | None = None
) -> Json:
    """A case without its record. `reason` is why it was skipped or failed, else "";
    `host_us` is the time to enqueue a call."""
    return {
        "name": name,
        "reason": reason,
        **dict.fromkeys(_BYTES),
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


def document(gpu: str, result: Result) -> Json:
    """All cases of the run, in its order; those without a record, which were not
    rehearsed, come last. Bytes and counts are exact; computed_least_us is computed."""
    good = (_case(row.name, "good", host_us=row.get("host_us")) for row in result.rows)
    skipped = (_case(row.name, "skipped", row.reason) for row in result.skipped)
    failed = (_case(row.name, "failed", row.reason) for row in result.errors)
    cases = {case["name"]: case for case in (*good, *skipped, *failed)}
    rehearsed = [
        cases.pop(one["case"]) | _recorded(one)
        for one in result.rehearsals
        if one["case"] in cases
    ]
    devices = [result.context["device"]] if rehearsed else []
    return {"gpu": gpu, "devices": devices, "cases": [*rehearsed, *cases.values()]}
