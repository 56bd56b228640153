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


def _key(case: Rehearsal) -> tuple[object, ...]:
    return tuple(
        (phase.name, kernel.name, kernel.launches)
        for phase in case.phases
        for kernel in phase.kernels
    )


def same_work(
    cases: Sequence[Rehearsal],
) -> list[tuple[list[str], tuple[Phase, ...]]]:
    """Groups of cases that launch the same kernels as often: names, and the phases."""
    groups: dict[tuple[object, ...], tuple[list[str], tuple[Phase, ...]]] = {}
    for case in cases:
        if case.phases:
            groups.setdefault(_key(case), ([], case.phases))[0].append(case.name)
    return list(groups.values())
