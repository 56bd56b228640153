# SPDX-License-Identifier: MIT
"""An SQLite index of the stored results, so that loading thousands takes a second.

The index is a cache: missing entries are read from the results, and a damaged or
outdated index is rebuilt.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reports.compare.environment import MUST_AGREE, WORTH_A_NOTE
from reports.history.store import INDEX, Store, read
from reports.results.counters import Counter, CounterTable
from reports.results.records import NotAResult
from reports.results.rows import Row

VERSION = 1
_WAIT_S = 60.0  # for another writer
_SCHEMA = """
DROP TABLE IF EXISTS results;
DROP TABLE IF EXISTS texts;
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT UNIQUE);
CREATE TABLE results (
  file TEXT PRIMARY KEY, started REAL, context INTEGER REFERENCES texts,
  rows INTEGER REFERENCES texts, exact BLOB, times BLOB)"""
_CONTEXT = (*MUST_AGREE, *WORTH_A_NOTE, "git_revision", "command_line")


@dataclass(frozen=True)
class Entry:
    """One result."""

    file: str
    started: float  # seconds since 1970
    context: dict[str, str]  # the keys that identify its series and its commit
    rows: tuple[str, ...]
    exact: list[list[Row]]  # exact counters by row: the smallest, the largest values
    times: NDArray[np.float64]  # us, [row, process]; 0 on a null GPU


def _exact_text(row: Row) -> str:
    names = [name for name in row.counters if row.table.find(name).is_compared]
    each = [row.each.get(name, (row.counters[name],)) for name in names]
    ends = [dict(zip(names, map(end, each), strict=True)) for end in (min, max)]
    counters = [asdict(row.table.find(name)) | {"name": name} for name in names]
    return json.dumps({"row": row.name, "ends": ends, "counters": counters})


@cache
def _exact_of(text: str) -> list[Row]:
    known = json.loads(text)
    table = CounterTable(tuple(Counter(**counter) for counter in known["counters"]))
    ends = known["ends"][:1] if known["ends"][0] == known["ends"][1] else known["ends"]
    return [Row(known["row"], 0, {}, {}, end, table=table) for end in ends]


@cache
def _names_of(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _times_of(rows: Sequence[Row]) -> NDArray[np.float64]:
    """Returns times [row, process]; NaN where a row has fewer processes than others."""
    each = [row.each.get("p50_us") or (row.time_us,) for row in rows]
    found = np.full((len(each), max(map(len, each), default=1)), np.nan)
    for place, times in enumerate(each):
        found[place, : len(times)] = times
    return found


def _insert(file: str, store: Store, connection: sqlite3.Connection) -> None:
    """Adds a result to the index. Errors: NotAResult."""
    _, result = read(store.folder / file)
    # The time of a row with a wrong result is meaningless.
    rows = [row for row in result.rows if "wrong" not in row.findings]
    context = {key: result.context[key] for key in _CONTEXT if key in result.context}

    def number(text: str) -> int:
        """Returns the id of a text; results share most of their texts."""
        connection.execute("INSERT OR IGNORE INTO texts (text) VALUES (?)", (text,))
        found = connection.execute("SELECT id FROM texts WHERE text = ?", (text,))
        return int(found.fetchone()[0])

    facts = (
        *(file, result.started, number(json.dumps(context))),
        number(json.dumps([row.name for row in rows])),
        np.array([number(_exact_text(row)) for row in rows], np.int64).tobytes(),
        _times_of(rows).tobytes(),
    )
    connection.execute("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?)", facts)


def _update(store: Store, connection: sqlite3.Connection) -> list[str]:
    """Adds new results, removes deleted ones, and returns errors on damaged ones."""
    damaged = []
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        known = {file for (file,) in connection.execute("SELECT file FROM results")}
        files = store.files()
        for file in files:
            if file not in known:
                try:
                    _insert(file, store, connection)
                except NotAResult as error:
                    damaged.append(str(error))
        gone = [(file,) for file in known.difference(files)]
        connection.executemany("DELETE FROM results WHERE file = ?", gone)
    return damaged


def _entries(connection: sqlite3.Connection) -> list[Entry]:
    texts = dict(connection.execute("SELECT id, text FROM texts"))
    found = connection.execute("SELECT * FROM results ORDER BY started, file")
    entries = []
    for file, started, context, rows, exact, times in found:
        names, known = _names_of(texts[rows]), json.loads(texts[context])
        numbers = np.frombuffer(exact, np.int64).tolist()
        counters = [_exact_of(texts[number]) for number in numbers]
        values = np.frombuffer(times).reshape(len(names), -1 if names else 1)
        entries.append(Entry(file, started, known, names, counters, values))
    return entries


def _connected(path: Path | str) -> sqlite3.Connection:
    """Opens the index. Errors: sqlite3.DatabaseError, for a damaged file."""
    connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone() != (VERSION,):
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
    return connection


def load(store: Store) -> tuple[list[Entry], list[str]]:
    """Returns all results by start time, and the errors of results that are left out.

    Errors: Refused; sqlite3.OperationalError, if another call writes for a minute.
    """
    store.require()
    path = store.folder / INDEX
    place = path if os.access(store.folder, os.W_OK) else ":memory:"
    try:
        with contextlib.closing(_connected(place)) as connection:
            damaged = _update(store, connection)
            return _entries(connection), damaged
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        path.unlink()
        return load(store)
