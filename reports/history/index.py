# SPDX-License-Identifier: MIT
"""An index of the stored results, so that loading thousands takes a second.

The index is a cache: missing entries are read from the results, and a damaged or
outdated index is rebuilt.
"""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from reports.compare.comparison import only
from reports.compare.environment import MUST_AGREE, WORTH_A_NOTE
from reports.history.store import INDEX, LeftOut, Store, read
from reports.results.counters import CounterTable
from reports.results.files import write_files
from reports.results.records import NotAResult
from reports.results.rows import TIME, Failure, Row

_CONTEXT = (*MUST_AGREE, *WORTH_A_NOTE, "git_revision", "command_line")


@dataclass(frozen=True)
class Entry:
    """One result."""

    file: str
    context: dict[str, str]  # the keys that identify its series and its commit
    rows: list[str]
    failures: list[Failure]  # skipped rows, then errors
    exact: list[Row]  # exact counters of each row: the values of its processes
    times: NDArray[np.float64]  # us, [row, process]; 0 on a null GPU

    @property
    def revision(self) -> str:
        return self.context["git_revision"]


def _exact(row: Row) -> Row:
    """Returns the exact counters of a row: the largest values and all of them."""
    named = (replace(row.table.find(name), counter=name) for name in row.counters)
    table = CounterTable(tuple(counter for counter in named if counter.is_compared))
    each = {name: {*row.each.get(name, (row[name],))} for name in table.compared}
    most = {name: max(values) for name, values in each.items()}
    several = {name: tuple(sorted(v)) for name, v in each.items() if len(v) > 1}
    return Row(row.name, 0, {}, {}, most, each=several, table=table)


def _times_of(rows: Sequence[Row]) -> NDArray[np.float64]:
    """Returns times [row, process]; NaN where a row has fewer processes than others."""
    each = (row.each.get(TIME) or (row.time_us,) for row in rows)
    columns = list(zip_longest(*each, fillvalue=math.nan)) or [()]
    return np.array(columns, float).T


@dataclass(frozen=True)
class _Facts:
    """One result in the index."""

    started: float  # seconds since 1970
    context: dict[str, str]
    failures: list[Failure]
    exact: list[int]  # of each row: the place among the texts
    times: bytes


@dataclass(frozen=True)
class _Index:
    version: Literal[6] = 6
    # The exact counters of rows, as JSON; results share most of them.
    texts: list[bytes] = field(default_factory=list)
    results: dict[str, _Facts] = field(default_factory=dict)  # by file


def _saved(path: Path) -> _Index:
    """Reads the index; returns an empty one if it is missing, outdated or damaged."""
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=_Index)
    except (OSError, msgspec.DecodeError):
        return _Index()


def _facts(path: Path, places: dict[bytes, int]) -> _Facts:
    """Reads a result, and adds its texts to `places`. Errors: NotAResult."""
    result = only("", read(path)[1])  # a wrong row is an error
    context = {key: result.context[key] for key in _CONTEXT if key in result.context}
    texts = (msgspec.json.encode(_exact(row)) for row in result.rows)
    exact = [places.setdefault(text, len(places)) for text in texts]
    failures = [*result.skipped, *result.errors]
    times = _times_of(result.rows).tobytes()
    return _Facts(result.started or 0.0, context, failures, exact, times)


def _entry(file: str, facts: _Facts, known: Sequence[Row]) -> Entry:
    exact = [known[place] for place in facts.exact]
    names = [row.name for row in exact]
    times = np.frombuffer(facts.times).reshape(len(names), -1 if names else 1)
    return Entry(file, facts.context, names, facts.failures, exact, times)


def load(store: Store, left_out: LeftOut) -> list[Entry]:
    """Returns all results by start time; `left_out` gets the errors of damaged ones.

    Errors: Refused, if there is no store.
    """
    path = store.folder / INDEX
    index = _saved(path)
    places = {text: place for place, text in enumerate(index.texts)}
    found: dict[str, _Facts] = {}
    for file in store.files():
        try:
            known = index.results.get(file)
            found[file] = known or _facts(store.folder / file, places)
        except NotAResult as error:
            left_out(str(error))
    if found.keys() != index.results.keys():
        content = msgspec.msgpack.encode(_Index(texts=[*places], results=found))
        with contextlib.suppress(OSError):  # the store may be read-only
            write_files({path: content})
    order = sorted(found, key=lambda file: (found[file].started, file))
    exact = [msgspec.json.decode(text, type=Row) for text in places]
    return [_entry(file, found[file], exact) for file in order]
