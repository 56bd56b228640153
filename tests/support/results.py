# SPDX-License-Identifier: MIT
"""Makes results and result files for tests."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reports.results.result_file import parse
from reports.results.rows import Result, Row

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "reports/reference/xeon-2-cores/full.json"
CONTEXT = {
    "date": "2026-01-01T00:00:00+00:00",
    "git_revision": "a" * 40,
    "git_dirty": "false",
    "device": "a CPU",
    "torch": "2.11.0",
    "threads": "2",
    "suite_version": "1",
}


# The full names of a kernel that fills a tensor, and of a null GPU's product.
FILL = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
    "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>)"
)
PRODUCT = "sm90_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x8_null"
_PHASES = ("forward_us", "loss_us", "backward_us", "communication_us", "optimizer_us")


def within(half_width: float, **times: float) -> dict[str, float]:
    """Returns the times and an interval of this relative half-width around each."""
    ends = dict(times)
    for name, us in times.items():
        stem = name.removesuffix("_us")
        ends[f"{stem}_low_us"] = us * math.exp(-half_width)
        ends[f"{stem}_high_us"] = us * math.exp(half_width)
    return ends


def entry(
    name: str,
    time_us: float,
    texts: str = "",
    /,
    half_width: float | None = None,
    **counters: float,
) -> dict[str, Any]:
    """`texts` has parameters and, after a bar, findings: "model=tiny precision=fp32 |
    logits=fp32, loss=fp32". `half_width` applies to the intervals of the time and the
    phases; an infinite one means no interval."""
    parameters, _, findings = texts.partition(" | ")
    if half_width is not None and math.isfinite(half_width):
        phases = {name: counters[name] for name in _PHASES if name in counters}
        counters |= within(half_width, p50_us=time_us, **phases)
    return {
        "name": name,
        "run_type": "iteration",
        "real_time": time_us,
        "time_unit": "us",
        "parameters": dict(item.split("=", 1) for item in parameters.split()),
        "findings": dict(item.split("=", 1) for item in findings.split(", ") if item),
        **counters,
    }


def result_of(*rows: Row) -> Result:
    return Result({}, list(rows), [], [], True)


def failure(name: str, reason: str) -> dict[str, str]:
    return {"name": name, "reason": reason}


def expected(
    experiment: str,
    counter: str,
    relation: str,
    value: float,
    tolerance: float = 0,
    /,
    **quantity: Any,
) -> dict[str, Any]:
    """Makes one expectation. `quantity` has per, rows, versus and along."""
    empty = {"per": "", "rows": {}, "versus": {}, "along": ""}
    return {
        "experiment": experiment,
        "text": f"the {counter} of {experiment}",
        "quantity": {"counter": counter} | empty | quantity,
        "relation": relation,
        "expected": value,
        "tolerance": tolerance,
    }


def document(*entries: dict[str, Any], **others: Any) -> dict[str, Any]:
    """Makes a result file of one turn; `context` replaces keys of CONTEXT."""
    context = CONTEXT | others.pop("context", {})
    turns = [
        {"case": name, "family": "all", "us": [1]}
        for name in {entry["name"]: None for entry in entries if "name" in entry}
    ]
    empty = {"skipped": [], "errors": [], "turns": turns, "complete": True}
    return {"context": context, "benchmarks": list(entries)} | empty | others


def parsed(*entries: dict[str, Any], **others: Any) -> Result:
    """Makes the result that is read from such a file."""
    return parse(document(*entries, **others))


def at(second: int) -> dict[str, str]:
    """The context of a process that started `second` seconds after midnight."""
    return {"date": f"2026-01-01T00:{second // 60:02}:{second % 60:02}+00:00"}


def alternating(
    processes: int, ratio: float, **times: float
) -> Iterator[tuple[bool, dict[str, Any]]]:
    """Yields the results of A B B A ..., and whether each is new. The rows e/<name> of
    new ones take `ratio` times as long, with a little noise."""
    for i in range(processes):
        is_new = i % 4 in (1, 2)
        factor = (ratio if is_new else 1) * (1 + 0.001 * (i % 5))
        entries = [entry(f"e/{name}", us * factor) for name, us in times.items()]
        yield is_new, document(*entries, context=at(i))


def write(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content))
    return path
