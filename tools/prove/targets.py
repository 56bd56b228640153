# SPDX-License-Identifier: MIT
"""What to look at where a number has a target."""

from tools.prove.readings import Seen
from tools.prove.verdicts import rows

_TERA = 1e12
# Rows of the stage "headline", and the most milliseconds that each may take.
_MOST_MS = {
    r"model_size/2\.7B_fused/bf16_autocast/forward_backward/": 108.0,
    r"implementations/\w+/2\.7B/bf16_autocast/forward_backward/": 108.0,
    r"optimizer/fused/2\.7B": 24.0,
    r"flash_attention/own/bf16/forward_backward/heads:16/seq:16384/d_head:64": 6.0,
    r"cuda_graph/graph/.*small/bf16_autocast/train_step/": 6.0,
}
_WITHOUT = "no times"


def _held(what: str, value: float, bound: str, holds: bool) -> str:
    return f"{what} {value:.4g} ({bound}){'' if holds else ' MISSED'}"


def rates(seen: Seen) -> list[str]:
    found = seen.result("rates")
    spins = [
        r["p50_us"] / r["us"] for r in found.of("harness/spin/") if r.get("p50_us")
    ]
    products = [r.get("flops_per_second", 0) for r in found.of("peak/matmul/bf16/")]
    copies = [r.get("bytes_per_second", 0) for r in found.of("peak/copy/")]
    clocks = [r["sm_clock_mhz"] for r in found.rows if r.get("sm_clock_mhz")]
    told = []
    if spins:
        worst = max(spins, key=lambda ratio: abs(ratio - 1))
        told.append(_held("spin", worst, "1 +- 1 %", abs(worst - 1) <= 0.01))
    for what, values, least in (("bf16", products, 750), ("copy", copies, 4)):
        if any(values):
            rate = max(values) / _TERA
            unit = "TFLOP/s" if what == "bf16" else "TB/s"
            told.append(_held(what, rate, f">= {least} {unit}", rate >= least))
    if clocks:
        told.append(f"SM clock {min(clocks):.0f} to {max(clocks):.0f} MHz")
    return [*(told or [_WITHOUT]), *rows(seen)]


def headline(seen: Seen) -> list[str]:
    results = seen.results()
    told = []
    for pattern, most in _MOST_MS.items():
        for row in (row for one in results for row in one.of(pattern)):
            if row.get("p50_us"):
                ms = row["p50_us"] / 1e3
                told.append(_held(row["name"], ms, f"<= {most:g} ms", ms <= most))
    return [*(told or [_WITHOUT]), *rows(seen)]


def aftermath(seen: Seen) -> list[str]:
    """Times after the profiled stages, relative to those before any."""
    before = {
        **seen.other("07-headline", "headline").times,
        **seen.other("07-headline", "large").times,
        **seen.other("03-rates", "rates").times,
    }
    changes = {
        row: time / before[row] - 1
        for row, time in seen.result("new_process").times.items()
        if row in before
    }
    if not changes:
        return [_WITHOUT, *rows(seen)]
    worst = max(changes, key=lambda row: abs(changes[row]))
    told = f"{len(changes)} rows, most {changes[worst]:+.1%} in {worst}"
    return [told, *rows(seen)]
