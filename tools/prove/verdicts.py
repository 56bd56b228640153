# SPDX-License-Identifier: MIT
"""The points to look at after each stage, in a line or two."""

import json
import re
from collections import Counter
from collections.abc import Sequence

from tools.prove.readings import Json, Seen

_SHOWN = 3  # names in a line
# The cases that run our CUDA kernels, for --filter.
OWN = "/own/|_fused/|(implementations|compiled|fused_ops/.*)/fused/"


def _few(items: Sequence[str]) -> str:
    rest = len(items) - _SHOWN
    return ", ".join(items[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _reasons(label: str, failures: Sequence[Json]) -> list[str]:
    """The most frequent reasons, each with its count and one case."""
    counts = Counter(failure["reason"] for failure in failures)
    first = {f["reason"]: f["name"] for f in reversed(failures)}
    return [
        f"{count} {label} as {first[reason]}: {reason}"
        for reason, count in counts.most_common(_SHOWN)
    ]


def rows(seen: Seen) -> list[str]:
    found = seen.results()
    if not found:
        return ["no result"]
    measured = [row for one in found for row in one.rows]
    skipped = [row for one in found for row in one.skipped]
    errors = [row for one in found for row in one.errors]
    wrong = [row["name"] for row in measured if "wrong" in row.get("findings", {})]
    ended = "" if all(one.complete for one in found) else ", not complete"
    return [
        f"{len(measured)} measured, {len(skipped)} skipped, {len(errors)} failed"
        f"{ended}",
        *([f"{len(wrong)} wrong: {_few(wrong)}"] if wrong else []),
        *_reasons("failed", errors),
        *_reasons("skipped", skipped),
    ]


def tests(seen: Seen) -> list[str]:
    found = list(seen.tests())
    failed = [name for one in found for name in one.failed]
    passed = sum(one.passed for one in found)
    skipped = sum(one.skipped for one in found)
    begun = sum("--gtest_output" in " ".join(s["command"]) for s in seen.steps)
    lost = begun - len(found)
    idle = [
        one.program for one in found if not one.passed + one.skipped + len(one.failed)
    ]
    return [
        f"{passed} passed, {skipped} skipped, {len(failed)} failed",
        *([f"failed: {_few(failed)}"] if failed else []),
        *([f"{lost} of {begun} programs left no report"] if lost else []),
        *([f"no test of {_few(idle)} ran"] if idle else []),
    ]


def device(seen: Seen) -> list[str]:
    found = list(seen.tests())
    trusted = found and all(one.passed and not one.failed for one in found)
    told = f"the emulator is another device: go on with --filter='-{OWN}'"
    return tests(seen) if trusted else [*tests(seen), told]


def identity(seen: Seen) -> list[str]:
    found = json.loads((seen.out / "identity.json").read_text(encoding="utf-8"))
    context = seen.result("second").context
    wheels = found["wheels"]
    cupti = next((v for name, v in wheels.items() if "cupti" in name), "unknown")
    first, second = (step["seconds"] for step in seen.steps[1:3])
    missing = [line.split()[0] for line in found["missing"]]
    return [
        found["gpu"] or "no nvidia-smi here",
        f"torch {context.get('torch')}, CUPTI {cupti}, cuDNN {context.get('cudnn')}, "
        f"NCCL {context.get('nccl')}",
        f"first start {first:.1f} s, second {second:.1f} s",
        str(context.get("allocator_settings")),
        *([f"not found: {_few(missing)}"] if missing else []),
    ]


def errors(seen: Seen) -> list[str]:
    """The largest value of each kind of error."""
    largest: dict[str, tuple[float, str]] = {}
    for row in (row for one in seen.results() for row in one.rows):
        for counter in row:
            if counter.endswith("_error"):
                found = (float(row[counter]), row["name"])
                largest[counter] = max(found, largest.get(counter, found))
    texts = [f"{c} {x:.2g} in {name}" for c, (x, name) in sorted(largest.items())]
    return [*tests(seen), *(texts or ["no row has an error"]), *rows(seen)[:1]]


def breakdown(seen: Seen) -> list[str]:
    found = seen.result("breakdown")
    dropped = [e["name"] for e in found.errors if "dropped" in e["reason"]]
    kernels = {(kernel["family"], kernel["name"]) for kernel in found.kernels}
    families = Counter(family for family, _ in sorted(kernels))
    shares = []
    times = found.times
    for name, time in times.items():
        whole = times.get(name.replace("/step/unattributed/", "/step/all/"))
        if "/step/unattributed/" in name and whole:
            shares.append(time / whole)
    share = f"{max(shares):.1%} (<= 2 %)" if shares else "without a time"
    return [
        f"{len(dropped)} rows lost to dropped records",
        f"unattributed {share}",
        f"{families.total()} kernels: "
        + ", ".join(f"{count} {family}" for family, count in families.most_common()),
        *rows(seen),
    ]


def sanitizer(seen: Seen) -> list[str]:
    log = seen.log()
    errors = [int(n) for n in re.findall(r"ERROR SUMMARY: (\d+) error", log)]
    hazards = [int(n) for n in re.findall(r"RACECHECK SUMMARY: (\d+) hazard", log)]
    return [
        f"{sum(errors)} errors and {sum(hazards)} hazards (0) in "
        f"{len(errors) + len(hazards)} of {len(seen.steps)} runs"
    ]


# Nsight Compute prints a name, its unit and the value.
_METRICS = {
    "Duration": "{1} {0}",
    "Compute (SM) Throughput": "SM {1} {0}",
    "DRAM Throughput": "DRAM {1} {0}",
}
_KERNEL = re.compile(r"\bRun<(?:\w+::)*(\w+(?:<\w+)?).*, Context ")
_METRIC = re.compile(r"\s+(\S.*?)\s{2,}(\S+)\s+([\d.,]+)\s*$")


def counters(seen: Seen) -> list[str]:
    """The first value of each metric of each kernel."""
    kernels: list[tuple[str, dict[str, str]]] = []
    for line in seen.log().splitlines():
        if kernel := _KERNEL.search(line):
            kernels.append((kernel[1], {}))
        elif (metric := _METRIC.match(line)) and kernels and metric[1] in _METRICS:
            text = _METRICS[metric[1]].format(metric[2], metric[3])
            kernels[-1][1].setdefault(metric[1], text)
    told = [f"{name}: {', '.join(found.values())}" for name, found in kernels]
    if "ERR_NVGPUCTRPERM" in seen.log():
        told.append("no permission: ERR_NVGPUCTRPERM")
    return told or ["no kernel was counted"]


def peers(seen: Seen) -> list[str]:
    return [
        f"{side} {cell['v_eager']:.3f} of eager, {cell['v_compile']:.3f} of compile"
        for path in seen.out.glob("peers.json")
        for step in json.loads(path.read_text(encoding="utf-8"))["steps"]
        for side, cell in step["cells"].items()
    ] + rows(seen)


_TERA = 1e12
# Rows of the stage "headline", and their upper bounds in milliseconds.
_MOST_MS = {
    r"model_size/2\.7B_fused/bf16_autocast/forward_backward/": 108.0,
    r"implementations/fused/2\.7B/bf16_autocast/forward_backward/": 108.0,
    r"optimizer/fused/2\.7B": 24.0,
    r"flash_attention/own/bf16/forward_backward/heads:16/seq:16384/d_head:64": 6.0,
    r"cuda_graph/graph/.*small/bf16_autocast/train_step/": 6.0,
}
_WITHOUT = "no times"


def _held(what: str, value: float, bound: str, holds: bool) -> str:
    return f"{what} {value:.4g} ({bound}){'' if holds else ' MISSED'}"


def rates(seen: Seen) -> list[str]:
    found = seen.result("rates")
    # Two events and a launch are more than 1 % of a shorter one.
    spins = [
        r["p50_us"] / r["us"]
        for r in found.of("harness/spin/us:1000$")
        if r.get("p50_us")
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
    """Times after the profiled stages, relative to times before them."""
    before: dict[str, float] = {}
    for folder in ("04-headline", "03-rates"):
        for one in Seen(seen.out.parent / folder, []).results():
            before |= one.times
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
