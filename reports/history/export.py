# SPDX-License-Identifier: MIT
"""Exports a series for third-party programs.

Apache Otava: a CSV file for each row, and the configuration that lists the files.
github-action-benchmark: the newest point, for `tool: customSmallerIsBetter`.
Bencher: the newest point in Bencher Metric Format, for `--adapter json`.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from reports.history.series import Series
from reports.results.counters import Counter
from reports.results.text import Table

_TIME = Counter("latency", "us", "time", "lower")


def otava(series: Series, folder: Path) -> dict[Path, str]:
    """Returns by path the files for `otava analyze ROW --config-file otava.yaml`."""
    found, tests = {}, {}
    for place, row in enumerate(series.rows):
        lines = [
            [commit.date, commit.revision, repr(series.time(place, point)[0])]
            for point in series.points(place).tolist()
            for commit in [series.commits[point]]
        ]
        path = folder / f"{place:04}.csv"
        found[path] = Table(["time", "commit", "time_us"], lines).csv()
        metric = {"column": "time_us", "direction": -1}
        tests[row] = {
            **{"type": "csv", "file": str(path.resolve()), "time_column": "time"},
            **{"attributes": ["commit"], "metrics": {"time_us": metric}},
        }
    # JSON is valid YAML, and needs no further library.
    found[folder / "otava.yaml"] = json.dumps({"tests": tests}, indent=1) + "\n"
    return found


def _newest(series: Series) -> Iterator[tuple[str, Counter, tuple[float, ...]]]:
    """Yields each row's counters at the newest point: value, and interval ends."""
    last = len(series.commits) - 1
    for place, row in enumerate(series.rows):
        if last in series.points(place):
            yield row, _TIME, series.time(place, last)
        for each in series.exact[last].get(row, [])[-1:]:
            for name, value in each.counters.items():
                yield row, each.table.find(name), (value,)


def github(series: Series, path: Path) -> dict[Path, str]:
    commit = f"commit {series.commits[-1].revision}"
    found = []
    for row, counter, (value, *ends) in _newest(series):
        if counter.direction == "lower":
            name = row if counter is _TIME else f"{row} {counter.counter}"
            entry = {"name": name, "unit": counter.unit or "count", "value": value}
            span = {"range": " to ".join(f"{end:.6g}" for end in ends)} if ends else {}
            found.append({**entry, **span, "extra": commit})
    return {path: json.dumps(found, indent=1) + "\n"}


def bencher(series: Series, path: Path) -> dict[Path, str]:
    """Exports latency in nanoseconds, and exact counters as separate measures."""
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for row, counter, values in _newest(series):
        scale = 1e3 if counter is _TIME else 1
        keys = ("value", "lower_value", "upper_value")
        measure = {key: scale * v for key, v in zip(keys, values, strict=False)}
        found[row][counter.counter.replace("_", "-")] = measure
    return {path: json.dumps(found, indent=1) + "\n"}


FORMS = {"otava": otava, "github": github, "bencher": bencher}
