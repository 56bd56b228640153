# SPDX-License-Identifier: MIT
"""Joins the files of one run: its --shard parts, or calls with different filters."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reports.results.expectations import Expectation
from reports.results.rows import Result, one_per_case, one_per_failed_case

# Context that may differ between the parts of a run: when, where and how a part was
# started, the momentary CPU clock, and the memory that Linux leaves to programs.
_OWN = frozenset(
    """
    aslr_enabled caches command_line cpu_scaling_enabled date device_clock_mhz
    device_memory_bytes executable host_name load_avg memory_bytes mhz_per_cpu
    samples_out shard
    """.split()
)


def _shard(result: Result) -> tuple[int, int] | None:
    """Returns (i, n) for part i of n, or None if the file is not a shard."""
    found = re.fullmatch(r"(\d+)/(\d+)", result.context.get("shard", ""))
    return (int(found[1]), int(found[2])) if found else None


def _circumstances(result: Result) -> dict[str, str]:
    return {key: value for key, value in result.context.items() if key not in _OWN}


def _belongs(result: Result, parts: Sequence[Result], calls: bool) -> bool:
    """Returns whether the result is another part of the run that `parts` belong to."""
    first = parts[0]
    if _circumstances(result) != _circumstances(first):
        return False
    shard, shards = _shard(result), [_shard(part) for part in parts]
    if shard is not None:
        others = [other for other in shards if other is not None]
        same_cut = all(other[1] == shard[1] for other in others)
        return len(others) == len(parts) and same_cut and shard not in others
    if not calls or any(other is not None for other in shards):
        return False
    known = {name for part in parts for name in part.names}
    return bool(known and result.names) and known.isdisjoint(result.names)


def _whole(parts: Sequence[Result]) -> Result:
    """Joins all parts. A case in several parts, such as a peak, becomes its median."""
    first = min(parts, key=lambda part: part.started or 0.0)
    rows = one_per_case(row for part in parts for row in part.rows)
    known = {row.name for row in rows}
    # Another part may have a row that failed in one, such as a peak.
    errors = one_per_failed_case(
        e
        for part in parts
        for e in part.errors
        if not any(e.name in other.by_name for other in parts if other is not part)
    )
    known |= {error.name for error in errors}
    skipped = one_per_failed_case((s for part in parts for s in part.skipped), known)
    shards = sorted(shard for shard in map(_shard, parts) if shard is not None)
    expectations: list[Expectation] = []
    for part in parts:
        expectations += [one for one in part.expectations if one not in expectations]
    missing = bool(shards) and len(shards) < shards[0][1]
    context = {key: value for key, value in first.context.items() if key != "shard"}
    if missing:
        context["shard"] = ", ".join(f"{i}/{n}" for i, n in shards)
    return replace(
        first,
        context=context,
        rows=rows,
        errors=errors,
        skipped=skipped,
        complete=all(part.complete for part in parts) and not missing,
        expectations=expectations,
        profiles=[profile for part in parts for profile in part.profiles],
        memory=[table for part in parts for table in part.memory],
        questions={k: asked for part in parts for k, asked in part.questions.items()},
    )


def runs(results: dict[Path, Result], calls: bool = False) -> dict[Path, Result]:
    """Joins the parts of each run into one result, keyed by its first file.

    Parts have the same context and are different shards of the same division. With
    `calls`, files without a shard are parts of a run, too, if they share no case.
    """
    found: dict[Path, list[Result]] = {}
    for key, result in results.items():
        for parts in found.values():
            if _belongs(result, parts, calls):
                parts.append(result)
                break
        else:
            found[key] = [result]
    return {key: _whole(parts) for key, parts in found.items()}
