# SPDX-License-Identifier: MIT
"""The requirements that two services for benchmark histories place on a result file.

Reimplemented here, field by field, from

- github-action-benchmark v1.22.0, `tool: googlecpp`: GoogleCppBenchmarkJson and
  extractGoogleCppResult in src/extract.ts of its repository;
- Bencher v0.6.12, `--adapter cpp_google`: adapters/cpp/google.rs and adapters/util.rs
  in lib/bencher_adapter, benchmark_name.rs in lib/bencher_valid of bencherdev/bencher.

Both accept unknown fields, and neither distinguishes aggregates from runs.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from program import Json

NUMBER, TEXT, BOOL = "a number", "a string", "a boolean"


class Refused(Exception):
    """The reader rejects the file."""


def kind(value: Any) -> str:
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int | float):
        return NUMBER
    return TEXT if isinstance(value, str) else type(value).__name__


def need(holder: Json, key: str, wanted: str) -> Any:
    if key not in holder:
        raise Refused(f"{key} is missing")
    if kind(holder[key]) != wanted:
        raise Refused(f"{key} is {kind(holder[key])}, not {wanted}")
    return holder[key]


def parse(text: str) -> Json:
    """Parses JSON as both do: no NaN, and no duplicate field (serde rejects them)."""

    def refuse(constant: str) -> None:
        raise Refused(f"{constant} is not JSON")

    def once(pairs: list[tuple[str, Any]]) -> Json:
        if len(dict(pairs)) < len(pairs):
            raise Refused(f"a field twice in {[key for key, _ in pairs]}")
        return dict(pairs)

    try:
        document = json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise Refused(str(error)) from error
    if not isinstance(document, dict):
        raise Refused("not an object")
    return document


# --- github-action-benchmark --------------------------------------------------

ACTION_CONTEXT = {
    "date": TEXT,
    "host_name": TEXT,
    "executable": TEXT,
    "num_cpus": NUMBER,
    "mhz_per_cpu": NUMBER,
    "cpu_scaling_enabled": BOOL,
    "library_build_type": TEXT,
}
ACTION_ROW = {
    "name": TEXT,
    "run_name": TEXT,
    "run_type": TEXT,
    "repetitions": NUMBER,
    "repetition_index": NUMBER,
    "threads": NUMBER,
    "iterations": NUMBER,
    "real_time": NUMBER,
    "cpu_time": NUMBER,
    "time_unit": TEXT,
}


@dataclass(frozen=True)
class Bench:
    name: str
    value: float
    unit: str
    extra: str


def github_action(text: str) -> list[Bench]:
    """Returns one entry per row, including aggregates; lower is better."""
    document = parse(text)
    context = need(document, "context", "dict")
    for key, wanted in ACTION_CONTEXT.items():
        need(context, key, wanted)
    if context["library_build_type"] not in ("release", "debug"):
        raise Refused("library_build_type is neither release nor debug")
    if any(kind(load) != NUMBER for load in need(context, "load_avg", "list")):
        raise Refused("load_avg holds something else than numbers")
    benches = []
    for row in need(document, "benchmarks", "list"):
        for key, wanted in ACTION_ROW.items():
            # Google Benchmark's aggregates have none, and the reader ignores the field.
            if key != "repetition_index" or row["run_type"] != "aggregate":
                need(row, key, wanted)
        unit = row["time_unit"]
        extra = (
            f"iterations: {row['iterations']}\n"
            f"cpu: {row['cpu_time']} {unit}\nthreads: {row['threads']}"
        )
        benches.append(Bench(row["name"], row["real_time"], f"{unit}/iter", extra))
    if not benches:
        raise Refused("no benchmark result was found")
    return benches


# --- Bencher ------------------------------------------------------------------

BENCHER_NANOSECONDS = {
    "ps": 1e-3,
    "ns": 1.0,
    "us": 1e3,
    "µs": 1e3,
    "μs": 1e3,
    "ms": 1e6,
    "s": 1e9,
}


def bencher(text: str) -> dict[str, float]:
    """Returns nanoseconds by name; the last row of a name wins."""
    document = parse(text)
    need(need(document, "context", "dict"), "caches", "list")
    latencies = {}
    for row in need(document, "benchmarks", "list"):
        name = need(row, "name", TEXT)
        if not 1 <= len(name.encode()) <= 1024:
            raise Refused(f"a name of {len(name.encode())} bytes")
        time = need(row, "real_time", NUMBER)
        if abs(time) >= 2**96:  # the limit of rust_decimal
            raise Refused(f"{time} is too large")
        unit = need(row, "time_unit", TEXT)
        if unit not in BENCHER_NANOSECONDS:
            raise Refused(f"{unit} is no unit")
        latencies[name] = time * BENCHER_NANOSECONDS[unit]
    if not latencies:
        raise Refused("no benchmark")
    return latencies


READERS = (github_action, bencher)
Reader = Callable[[str], Any]
