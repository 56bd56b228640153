# SPDX-License-Identifier: MIT
"""The differences inside two results: exact counters, operators or kernels, tensors."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from statistics import fmean

from reports.compare.exact import changes
from reports.compare.text import metric
from reports.results import text
from reports.results.memory_tables import MemoryTable
from reports.results.profiles import Profile
from reports.results.rows import Result

MOST = 8  # lines of each kind

Amounts = dict[str, float]  # by the name of the counted item


def _sums(items: Iterable[tuple[str, float]]) -> Amounts:
    found: Amounts = defaultdict(float)
    for what, amount in items:
        found[what] += amount
    return found


def _lines(
    before: Amounts, after: Amounts, formatted: Callable[[float], str], words: str
) -> Iterator[str]:
    """Yields the differences, largest first."""
    names = dict.fromkeys([*before, *after])
    gained = {name: after.get(name, 0) - before.get(name, 0) for name in names}
    for name in sorted(names, key=lambda name: -abs(gained[name]))[:MOST]:
        if gained[name]:
            sign = "+" if gained[name] > 0 else "-"
            yield f"{sign}{formatted(abs(gained[name]))} {words} {name}"


def _calls(profile: Profile) -> Amounts:
    each = profile.kernels
    return _sums((f"{profile.short(k.name)}, {k.phase}", k.instances) for k in each)


def _copied(profile: Profile) -> Amounts:
    each = profile.copies
    return _sums((f"{c.name} {c.direction}, {c.phase}", c.bytes) for c in each)


def _passes(profile: Profile) -> dict[str, list[float]]:
    """Returns the time in each pass, in us."""
    found: dict[str, list[float]] = defaultdict(lambda: [0.0] * profile.passes)
    for kernel in profile.kernels:
        name = f"{profile.short(kernel.name)}, {kernel.phase}"
        known = kernel.time_us.totals if kernel.time_us else None
        totals = known or [0.0] * profile.passes
        found[name] = [a + b for a, b in zip(found[name], totals, strict=True)]
    return found


def _shares(before: Profile, after: Profile) -> tuple[Amounts, Amounts]:
    """Returns shares of the step before, of names with disjoint ranges over passes."""
    old, new = _passes(before), _passes(after)
    step_us = sum(map(fmean, old.values())) or 1.0
    names = [
        name
        for name in dict.fromkeys([*old, *new])
        if min(old[name]) > max(new[name]) or min(new[name]) > max(old[name])
    ]
    shares = (
        {name: fmean(side[name]) / step_us for name in names} for side in (old, new)
    )
    return next(shares), next(shares)


def _profile_lines(before: Profile, after: Profile) -> Iterator[str]:
    noun = "calls of" if after.of == "operators" else "launches of"
    shares = _shares(before, after)
    yield from _lines(*shares, formatted=text.percent, words="of the step in")
    yield from _lines(_calls(before), _calls(after), text.significant, noun)
    yield from _lines(_copied(before), _copied(after), text.size, "copied by")


def _at_peak(table: MemoryTable) -> Amounts:
    kinds = (
        (f"{t.operator} {t.shape} {t.dtype}", t.total_bytes) for t in table.at_peak
    )
    return _sums(kinds)


def explained(before: Result, after: Result) -> dict[str, list[str]]:
    """Lists the differences by case. Differences of counts or bytes are certain, those
    in time are only a hint, since each side is one process."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in after.rows:
        if old := before.by_name.get(row.name):
            found[row.name] += map(metric, changes([old], [row]))
    profiles = {profile.case: profile for profile in before.profiles}
    for profile in after.profiles:
        if profile.case in profiles:
            found[profile.case] += _profile_lines(profiles[profile.case], profile)
    tables = {table.case: _at_peak(table) for table in before.memory}
    peak_lines = partial(_lines, formatted=text.size, words="at the peak:")
    for table in after.memory:
        if table.case in tables:
            found[table.case] += peak_lines(tables[table.case], _at_peak(table))
    return {case: lines for case, lines in found.items() if lines}
