# SPDX-License-Identifier: MIT
"""An index of the stored results, so that loading thousands takes a second.

The index is a cache: missing entries are read from the results, and a damaged or
outdated index is rebuilt.
"""

import contextlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from reports.compare.environment import MUST_AGREE, WORTH_A_NOTE
from reports.history.store import INDEX, Store, read
from reports.results.counters import CounterTable
from reports.results.files import write_files
from reports.results.records import NotAResult
from reports.results.rows import Row

_CONTEXT = (*MUST_AGREE, *WORTH_A_NOTE, "git_revision", "command_line")


@dataclass(frozen=True)
class Entry:
    """One result."""

    file: str
    context: dict[str, str]  # the keys that identify its series and its commit
    rows: tuple[str, ...]
    exact: list[list[Row]]  # exact counters by row: the smallest, the largest values
    times: NDArray[np.float64]  # us, [row, process]; 0 on a null GPU


def _exact(row: Row) -> list[Row]:
    """Returns the exact counters of a row: the smallest and the largest values."""
    table = {name: row.table.find(name) for name in row.counters}
    each = {
        name: row.each.get(name, (row.counters[name],))
        for name, counter in table.items()
        if counter.is_compared
    }
    counters = CounterTable(tuple(replace(table[name], name=name) for name in each))
    ends = [{name: end(values) for name, values in each.items()} for end in (min, max)]
    found = [Row(row.name, 0, {}, {}, end, table=counters) for end in ends]
    return found[:1] if ends[0] == ends[1] else found


@cache
def _exact_of(text: str) -> list[Row]:
    return msgspec.json.decode(text, type=list[Row])


def _times_of(rows: Sequence[Row]) -> NDArray[np.float64]:
    """Returns times [row, process]; NaN where a row has fewer processes than others."""
    each = (row.each.get("p50_us") or (row.time_us,) for row in rows)
    columns = list(zip_longest(*each, fillvalue=math.nan)) or [()]
    return np.array(columns, float).T


@dataclass(frozen=True)
class _Facts:
    """One result in the index. A text is given by its place among the texts."""

    started: float  # seconds since 1970
    context: int
    exact: list[int]  # of each row, with its name
    times: bytes


@dataclass(frozen=True)
class _Index:
    version: Literal[2] = 2
    texts: list[str] = field(default_factory=list)  # JSON; results share most of them
    results: dict[str, _Facts] = field(default_factory=dict)  # by file


def _saved(path: Path) -> _Index:
    """Reads the index; returns an empty one if it is missing, outdated or damaged."""
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=_Index)
    except (OSError, msgspec.DecodeError):
        return _Index()


def _facts(path: Path, places: dict[str, int]) -> _Facts:
    """Reads a result, and adds its texts to `places`. Errors: NotAResult."""
    _, result = read(path)
    # The time of a row with a wrong result is meaningless.
    rows = [row for row in result.rows if "wrong" not in row.findings]
    context = {key: result.context[key] for key in _CONTEXT if key in result.context}

    def place(text: str) -> int:
        return places.setdefault(text, len(places))

    return _Facts(
        result.started or 0.0,
        place(json.dumps(context)),
        [place(msgspec.json.encode(_exact(row)).decode()) for row in rows],
        _times_of(rows).tobytes(),
    )


def _entry(file: str, facts: _Facts, texts: Sequence[str]) -> Entry:
    exact = [_exact_of(texts[place]) for place in facts.exact]
    names = tuple(ends[0].name for ends in exact)
    times = np.frombuffer(facts.times).reshape(len(names), -1 if names else 1)
    context = json.loads(texts[facts.context])
    return Entry(file, context, names, exact, times)


def load(store: Store) -> tuple[list[Entry], list[str]]:
    """Returns all results by start time, and the errors of results that are left out.

    Errors: Refused, if there is no store.
    """
    store.require()
    path = store.folder / INDEX
    index = _saved(path)
    places = {text: place for place, text in enumerate(index.texts)}
    found: dict[str, _Facts] = {}
    damaged = []
    for file in store.files():
        try:
            known = index.results.get(file)
            found[file] = known or _facts(store.folder / file, places)
        except NotAResult as error:
            damaged.append(str(error))
    texts = list(places)
    if found.keys() != index.results.keys():
        content = msgspec.msgpack.encode(_Index(texts=texts, results=found))
        with contextlib.suppress(OSError):  # the store may be read-only
            write_files({path: content})
    order = sorted(found, key=lambda file: (found[file].started, file))
    return [_entry(file, found[file], texts) for file in order], damaged
