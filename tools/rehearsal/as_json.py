# SPDX-License-Identifier: MIT
"""A rehearsal as JSON, for a program."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tools.rehearsal.records import Rehearsal
from tools.rehearsal.summary import families


def _case(case: Rehearsal) -> dict[str, Any]:
    content = asdict(case)
    del content["device"], content["failed"]
    return {
        **content,
        "status": "failed" if case.failed else "skipped" if case.reason else "good",
        "fits": case.fits,
        "unused_share": case.unused_share,
        # Below this time of the GPU the host is slower on this machine.
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
    """Bytes and counts are exact, computed_least_us is computed."""
    devices = sorted({case.device for case in cases if case.device})
    return {"gpu": gpu, "devices": devices, "cases": list(map(_case, cases))}
