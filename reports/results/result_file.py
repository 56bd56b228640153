# SPDX-License-Identifier: MIT
"""Reads a result file."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from reports.results import records
from reports.results.counters import Counter, CounterTable, default_table
from reports.results.expectations import Expectation
from reports.results.profiles import MemoryTable, Profile
from reports.results.records import record, shown
from reports.results.rows import (
    NULL_GPU,
    Asked,
    Failure,
    NotAResult,
    Result,
    Row,
    Turns,
    one_per_case,
    one_per_failed_case,
)

# Ratios of times beyond these limits, in us, may underflow or overflow.
SHORTEST_US, LONGEST_US = 1e-9, 1e15
# Greater than any count, and small enough for a report's arithmetic.
LARGEST = 1e100


@dataclass(frozen=True)
class _Entry:
    """The fields that are read of a row, without counters."""

    name: str
    run_type: str
    repetition_index: int | None = None
    real_time: float = 0.0
    time_unit: Literal["us"] = "us"
    parameters: dict[str, str | float] = field(default_factory=dict)
    findings: dict[str, str] = field(default_factory=dict)
    error_occurred: bool = False
    error_message: str = ""
    skipped: bool = False
    skip_message: str = ""


_NO_COUNTERS = frozenset(_Entry.__dataclass_fields__) | frozenset(
    """
    aggregate_name aggregate_unit cpu_time family_index iterations label
    per_family_instance_index repetitions run_name threads
    """.split()
)


def _wrong(what: str, value: object, allowed: str) -> NotAResult:
    return NotAResult(f"{what} is {shown(value)}; allowed: {allowed}")


def _check_name(name: str) -> None:
    """Checks that it is the name of a case, e.g. e/fp32/seq:8."""
    if not name.isprintable() or len(name) > 255:
        raise _wrong("name", name, "up to 255 printable letters")
    for part in name.split("/")[1:]:
        key, colon, number = part.partition(":")
        if colon and not re.fullmatch(r"-?[0-9]{1,19}", number):
            raise _wrong(f"{key} in the name {shown(name)}", number, "whole numbers")


def _check_time(entry: _Entry, is_timed: bool) -> None:
    what, us = f"real_time of {entry.name}", entry.real_time
    if not is_timed and us != 0:
        raise NotAResult(f"{what} is {us}; a null GPU has none: 0")
    if is_timed and not SHORTEST_US <= us <= LONGEST_US:
        limits = f"{SHORTEST_US:g} to {LONGEST_US:g}"
        raise NotAResult(f"{what} is {us:g} us; allowed: {limits}")


def _counter(table: CounterTable, row: str, name: str, value: Any) -> float:
    what = f"{name} of {row}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(what, value, "finite numbers")
    if abs(value) > LARGEST:
        raise _wrong(what, value, f"at most {LARGEST:g}")
    if value < 0 and table.find(name).is_amount:
        raise _wrong(what, value, "0 or more")
    return float(value)


def _row(
    entry: _Entry, every: dict[str, Any], is_timed: bool, table: CounterTable
) -> Row:
    _check_name(entry.name)
    _check_time(entry, is_timed)
    words = {k: v for k, v in entry.parameters.items() if isinstance(v, str)}
    counters = {
        key: _counter(table, entry.name, key, value)
        for key, value in every.items()
        if key not in _NO_COUNTERS
    }
    return Row(
        entry.name, entry.real_time, words, entry.findings, counters, table=table
    )


@dataclass(frozen=True)
class _Document:
    """A result file. The fields with a default may be missing."""

    context: dict[str, Any]
    benchmarks: list[dict[str, Any]]
    skipped: list[Failure]
    errors: list[Failure]
    complete: bool
    counters: tuple[Counter, ...] | None = None  # None: as in fixtures/counters.md
    turns: list[Turns] = field(default_factory=list)
    expectations: list[Expectation] = field(default_factory=list)
    profiles: list[Profile] = field(default_factory=list)
    memory: list[MemoryTable] = field(default_factory=list)
    rehearsals: list[dict[str, Any]] = field(default_factory=list)
    questions: list[Asked] = field(default_factory=list)


def parse(document: Any) -> Result:
    """Converts a parsed result file. Errors: NotAResult."""
    given = record(document, _Document, "a result of trainbench")
    context = {key: str(value) for key, value in given.context.items()}
    is_timed = context.get("device_kind") != NULL_GPU
    table = default_table() if given.counters is None else CounterTable(given.counters)
    for one in given.expectations:
        quantity = one.quantity
        if not (quantity.per or quantity.versus or quantity.along):
            quantity.unit = table.find(quantity.counter).unit
    turns = {one.case: one for one in given.turns}
    rows, skipped, errors = [], list(given.skipped), list(given.errors)
    known = set[tuple[str, int]]()
    for every in given.benchmarks:
        entry = record(every, _Entry, shown(every.get("name", "a row")))
        if entry.run_type != "iteration":
            continue
        if entry.repetition_index is not None:
            repetition = (entry.name, entry.repetition_index)
            if repetition in known:
                raise NotAResult("{} has repetition {} twice".format(*repetition))
            known.add(repetition)
        # Google Benchmark itself gives the reason why it skipped some.
        skipped += [Failure(entry.name, entry.skip_message)] if entry.skipped else []
        if entry.error_occurred:
            errors.append(Failure(entry.name, entry.error_message))
        elif not entry.skipped:
            row = _row(entry, every, is_timed, table)
            rows.append(replace(row, turns=turns.get(row.name)))
    return Result(
        context=context,
        rows=one_per_case(rows, is_process="processes" in context),
        skipped=one_per_failed_case(skipped),
        errors=one_per_failed_case(errors),
        complete=given.complete,
        expectations=given.expectations,
        profiles=given.profiles,
        memory=given.memory,
        rehearsals=given.rehearsals,
        questions={one.experiment: one for one in given.questions},
    )


def load(path: Path) -> Result:
    """Loads a result file. Errors: NotAResult, also if it cannot be read."""
    try:
        return parse(records.load(path))
    except NotAResult as error:
        raise NotAResult(f"{path}: {error}") from error
