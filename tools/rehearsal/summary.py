# SPDX-License-Identifier: MIT
"""What the kernels of a rehearsal have in common."""

from collections import Counter
from collections.abc import Sequence

from tools.rehearsal.names import family
from tools.rehearsal.records import Phase, Rehearsal


def families(phase: Phase) -> list[tuple[str, int]]:
    """The families of the phase's kernels and their launches, most frequent first."""
    counts: Counter[str] = Counter()
    for kernel in phase.kernels:
        counts[family(kernel)] += kernel.launches
    return counts.most_common()


def same_work(cases: Sequence[Rehearsal]) -> list[tuple[Phase, list[str]]]:
    """Each phase that launches other kernels, or others as often, and its cases."""
    groups: dict[tuple[object, ...], tuple[Phase, list[str]]] = {}
    for case in cases:
        for phase in case.phases:
            launches = tuple((kernel.name, kernel.launches) for kernel in phase.kernels)
            _, names = groups.setdefault((phase.name, *launches), (phase, []))
            names.append(case.name)
    return list(groups.values())
