# SPDX-License-Identifier: MIT
"""The differences inside two results: exact counters, operators or kernels, tensors."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from statistics import fmean

import numpy as np

from reports.compare.exact import changes
from reports.compare.intervals import Floats
from reports.compare.text import metric
from reports.results import text
from reports.results.profiles import Kernel, MemoryTable, Profile
from reports.results.rows import Result

MOST = 8  # lines of each kind

Amounts = Iterable[tuple[str, float]]  # each with the name of the counted item


def _lines(
    before: Amounts, after: Amounts, formatted: Callable[[float], str], words: str
) -> Iterator[str]:
    """Yields the differences of the sums by name, largest first."""
    gained: dict[str, float] = defaultdict(float)
    for sign, amounts in ((-1, before), (1, after)):
        for name, amount in amounts:
            gained[name] += sign * amount
    for name in sorted(gained, key=lambda name: -abs(gained[name]))[:MOST]:
        if gained[name]:
            which = "+" if gained[name] > 0 else "-"
            yield f"{which}{formatted(abs(gained[name]))} {words} {name}"


def _name(kernel: Kernel, profile: Profile) -> str:
    return f"{profile.short(kernel.name)}, {kernel.phase}"


def _calls(profile: Profile) -> Amounts:
    return ((_name(each, profile), each.instances) for each in profile.kernels)


def _copied(profile: Profile) -> Amounts:
    return ((f"{c.name} {c.direction}, {c.phase}", c.bytes) for c in profile.copies)


def _passes(profile: Profile) -> dict[str, Floats]:
    """Returns the time in each pass, in us."""
    found: dict[str, Floats] = defaultdict(lambda: np.zeros(profile.passes))
    for each in profile.kernels:
        if each.time_us:
            found[_name(each, profile)] += each.time_us.totals
    return found


def _shares(before: Profile, after: Profile) -> Amounts:
    """Yields the gains of names with disjoint ranges over passes, as shares of the step
    before."""
    old, new = _passes(before), _passes(after)
    step_us = sum(map(fmean, old.values())) or 1.0
    for name in dict.fromkeys([*old, *new]):
        if min(old[name]) > max(new[name]) or min(new[name]) > max(old[name]):
            yield name, (fmean(new[name]) - fmean(old[name])) / step_us


def _profile_lines(before: Profile, after: Profile) -> Iterator[str]:
    noun = "calls of" if after.of == "operators" else "launches of"
    yield from _lines((), _shares(before, after), text.percent, "of the step in")
    yield from _lines(_calls(before), _calls(after), text.significant, noun)
    yield from _lines(_copied(before), _copied(after), text.size, "copied by")


def _at_peak(table: MemoryTable) -> Amounts:
    return ((f"{t.operator} {t.shape} {t.dtype}", t.total_bytes) for t in table.at_peak)


def explained(before: Result, after: Result) -> dict[str, list[str]]:
    """Lists the differences by case. Differences of counts or bytes are certain, those
    in time are only a hint, since each side is one process."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in after.rows:
        if old := before.by_name.get(row.name):
            found[row.name] += map(metric, changes([old], [row]))
    profiles = {profile.case: profile for profile in before.profiles}
    for profile in after.profiles:
        if known := profiles.get(profile.case):
            found[profile.case] += _profile_lines(known, profile)
    tables = {table.case: table for table in before.memory}
    for table in after.memory:
        if kept := tables.get(table.case):
            both = _at_peak(kept), _at_peak(table)
            found[table.case] += _lines(*both, text.size, "at the peak:")
    for name in sorted(before.by_name.keys() ^ after.by_name.keys()):
        side = "before" if name in before.by_name else "after"
        found[name] = [f"measured only {side}"]
    return {case: lines for case, lines in found.items() if lines}
