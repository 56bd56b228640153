# SPDX-License-Identifier: MIT
"""Families of a rehearsal's kernels, and the rehearsal as JSON."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from reports.results.kernel_names import bare
from tools.rehearsal.records import Kernel, Phase, Rehearsal


def family(kernel: Kernel) -> str:
    """The arithmetic of a matrix product, or the common function of other kernels."""
    if kernel.family == "other":
        return bare(kernel.name)
    return f"{kernel.family} product"


def families(phase: Phase) -> list[tuple[str, int]]:
    """The families of the phase's kernels and their launches, most frequent first."""
    counts: Counter[str] = Counter()
    for kernel in phase.kernels:
        counts[family(kernel)] += kernel.launches
    return counts.most_common()


def same_work(cases: Sequence[Rehearsal]) -> list[tuple[Phase, list[str]]]:
    """Groups phases that launch the same kernels equally often; lists their cases."""
    groups: dict[tuple[object, ...], tuple[Phase, list[str]]] = {}
    for case in cases:
        for phase in case.phases:
            launches = tuple((kernel.name, kernel.launches) for kernel in phase.kernels)
            _, names = groups.setdefault((phase.name, *launches), (phase, []))
            names.append(case.name)
    return list(groups.values())


def _case(case: Rehearsal) -> dict[str, Any]:
    content = asdict(case)
    del content["device"], content["failed"]
    return {
        **content,
        "status": "failed" if case.failed else "skipped" if case.reason else "good",
        "fits": case.fits,
        "unused_share": case.unused_share,
        # If the GPU takes less time than this, this machine's host is the slower one.
        "launch_bound_below_us": case.host_us,
        "phases": [
            {**asdict(phase), "families": dict(families(phase))}
            for phase in case.phases
        ],
        "components": [
            {**asdict(component), "computed_least_us": component.least_us}
            for component in case.components
        ],
    }


def document(gpu: str, cases: Sequence[Rehearsal]) -> dict[str, Any]:
    """JSON of all cases. Bytes and counts are exact; computed_least_us is computed."""
    devices = sorted({case.device for case in cases if case.device})
    return {"gpu": gpu, "devices": devices, "cases": list(map(_case, cases))}
