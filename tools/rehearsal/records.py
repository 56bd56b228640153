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


def _unused_share(record: Json) -> float | None:
    """The share of the reserved peak that no block used at the allocated peak."""
    if not record.get("reserved_bytes"):
        return None
    used = record["tensor_bytes"] + record["library_bytes"]
    return 1 - float(used / record["reserved_bytes"])


def _case(
    record: Json, name: str, status: str, reason: str = "", host_us: float | None = None
) -> Json:
    """A case with its record, which is empty if it was not rehearsed. `reason` is why
    it was skipped or failed, else ""; `host_us` is the time to enqueue a call."""
    return {
        "name": name,
        "reason": reason,
        **{key: record.get(key) for key in (*_BYTES, "out_of_memory")},
        "phases": [_phase(phase) for phase in record.get("phases", ())],
        "components": [
            _component(component, record)
            for component in record.get("components", ())
            if component["flops"] or component["bytes"]
        ],
        "host_us": host_us,
        "status": status,
        "fits": record["out_of_memory"] is None if record else None,
        "unused_share": _unused_share(record),
    }


def document(gpu: str, result: Result) -> Json:
    """All cases of the run, in its order; those without a record, which were not
    rehearsed, come last. Bytes and counts are exact; computed_least_us is computed."""
    found: dict[str, tuple[Any, ...]] = {
        **{row.name: ("good", "", row.get("host_us")) for row in result.rows},
        **{row.name: ("skipped", row.reason) for row in result.skipped},
        **{row.name: ("failed", row.reason) for row in result.errors},
    }
    records = {one["case"]: one for one in result.rehearsals if one["case"] in found}
    return {
        "gpu": gpu,
        "devices": [result.context["device"]] if records else [],
        "cases": [
            _case(records.get(name, {}), name, *found[name])
            for name in dict.fromkeys((*records, *found))
        ],
    }
