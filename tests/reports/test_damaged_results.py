# SPDX-License-Identifier: MIT
"""A result with a missing part or a 0 is reported on, or rejected in one line."""

import copy
import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from reports.advice.advice import advice
from reports.advice.tell import markdown as advised
from reports.answers.answer import markdown as answered
from reports.compare import text
from reports.compare.comparison import Options, compare
from reports.compare.environment import NotComparable
from reports.results.result_file import parse
from reports.results.rows import NotAResult, Result
from results import CONTEXT, REFERENCE

Path = tuple[str | int, ...]
RUN: dict[str, Any] = json.loads(REFERENCE.read_text(encoding="utf-8"))
LISTS = {
    **dict.fromkeys(("benchmarks", "skipped"), "name"),
    **dict.fromkeys(("profiles", "memory"), "case"),
    **dict.fromkeys(("expectations", "questions"), "experiment"),
}


def experiment_of(entry: dict[str, Any], key: str) -> str:
    return str(entry[key]).partition("/")[0]


def shortened(node: Any) -> Any:
    """Keeps the first entries of each list, including the times of all six passes."""
    if isinstance(node, dict):
        return {key: shortened(value) for key, value in node.items()}
    return list(map(shortened, node[:6])) if isinstance(node, list) else node


def part_of(experiment: str) -> dict[str, Any]:
    """Returns the run with only one experiment, and at most 12 of its rows."""
    found = {
        name: [entry for entry in RUN[name] if experiment_of(entry, key) == experiment]
        for name, key in LISTS.items()
    }
    for name in ("profiles", "memory"):
        found[name] = [shortened(table) for table in found[name][:1]]
    rows = found.pop("benchmarks")
    if experiment in ("breakdown", "memory"):
        # In one process a 0 is no outlier. The last row is of a training step; in a
        # breakdown, its parts precede it in the file.
        rows = [row for row in reversed(rows) if row.get("repetition_index") == 0]
    return RUN | {"context": CONTEXT, "benchmarks": rows[:12]} | found


def paths(node: Any, before: Path = ()) -> Iterator[Path]:
    items: Iterable[tuple[str | int, Any]] = ()
    if isinstance(node, dict):
        items = node.items()
    elif isinstance(node, list):
        items = enumerate(node)
    for key, value in items:
        yield (*before, key)
        yield from paths(value, (*before, key))


def one_of_each(document: dict[str, Any]) -> list[Path]:
    """Returns the paths; of those that differ only in list indices, only the first."""
    found: dict[Path, Path] = {}
    for path in paths(document):
        kind = tuple("" if isinstance(key, int) else key for key in path)
        found.setdefault(kind, path)
    return list(found.values())


def damaged(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in one_of_each(document):
        *outer, last = path
        for what in ("without", "with 0 at"):
            made = copy.copy(document)
            inner: Any = made
            for key in outer:  # everything off the path is shared
                inner[key] = copy.copy(inner[key])
                inner = inner[key]
            if what == "without":
                del inner[last]
            elif isinstance(inner[last], float):
                inner[last] = 0.0
            else:
                continue
            yield f"{what} {path}", made


def tell(result: Result, whole: Result) -> None:
    """Runs all the commands' reports on the result."""
    answered(result)
    advised(advice(result))
    text.render(compare([whole], [result], Options()))


@pytest.mark.parametrize(
    "experiment", sorted({experiment_of(row, "name") for row in RUN["benchmarks"]})
)
def test_a_part_that_is_missing_or_0_ends_in_a_line(experiment: str) -> None:
    document = part_of(experiment)
    whole = parse(document)
    for what, made in damaged(document):
        try:
            tell(parse(made), whole)
        except (NotAResult, NotComparable) as error:
            assert "\n" not in str(error), what
        except Exception as error:
            error.add_note(what)
            raise
