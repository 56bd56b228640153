# SPDX-License-Identifier: MIT
"""A device with round rates, the rows of a step broken down on it, and the advice that
they produce."""

from typing import Any

from reports.advice.advice import advice
from reports.advice.line import Line
from reports.answers.judging import Verdict
from reports.results.rows import parse
from results import document, entry

Entry = dict[str, Any]
EXACT = {"half_width": 0.0}
_PART = {
    "batch": 4,
    "seq": 128,
    "matmul_share": 0,
    "flops": 0,
    "calls": 0,
    "share": 0.5,
}
STEP = "model=tiny precision=fp32 mode=train_step"


def product(
    precision: str, flops_per_second: float, tokens: int = 1, library: str = ""
) -> Entry:
    """A product that takes 1 us."""
    work = f"linear library={library}" if library else "matmul"
    return entry(
        f"peak/{'/'.join((*work.split(), precision))}/m:{tokens}/n:1/k:1",
        1,
        f"work={work} precision={precision}",
        flops_per_second=flops_per_second,
        **{"flops": 1e-6 * flops_per_second, "m": tokens, "n": 1, "k": 1},
        **EXACT,
    )


# 1 GFLOP takes 1 ms; 1 ms copies 10 MB or updates 20 MB; an operator takes 1 us.
PEAKS: tuple[Entry, ...] = (
    product("fp32", 1e12),
    entry("peak/copy/size:1", 1, "work=copy", size=1, bytes_per_second=1e10, **EXACT),
    entry(
        "peak/update/size:1", 1, "work=update", size=1, bytes_per_second=2e10, **EXACT
    ),
    entry("peak/op_overhead/ops:1000", 1000, "work=op_overhead", op_us=1, **EXACT),
)
BF16_PEAK = product("bf16", 4e12)


def part(phase: str, component: str, us: float, /, **counters: float) -> Entry:
    """A row of the breakdown of a train step of tiny, with an exact time."""
    return entry(
        f"breakdown/tiny/fp32/train_step/{phase}/{component}/batch:4/seq:128",
        us,
        f"{STEP} phase={phase} component={component}",
        **_PART | EXACT | counters,
    )


def whole(us: float, /, **counters: float) -> Entry:
    return part("step", "all", us) | counters


def step(experiment: str, us: float, /, *words: str, **counters: float) -> Entry:
    """A timed train step of tiny; `words` are its precision and its batch size."""
    precision, batch = (*words, *("fp32", "4")[len(words) :])
    return entry(
        f"{experiment}/tiny/{precision}/train_step/batch:{batch}/seq:128",
        us,
        f"model=tiny precision={precision} mode=train_step",
        **{"batch": float(batch), "seq": 128, "p50_us": us} | EXACT | counters,
    )


def op(implementation: str, us: float, model: str = "tiny") -> Entry:
    """A row of SwiGLU, timed alone."""
    return entry(
        f"fused_ops/swiglu/{implementation}/{model}/fp32/forward/batch:4/seq:128",
        us,
        f"op=swiglu implementation={implementation} model={model} precision=fp32 "
        "pass=forward",
        **{"bytes": 2e6, "batch": 4, "seq": 128} | EXACT,
    )


def lines(*rows: Entry, **others: Any) -> dict[str, Line]:
    """The lines of the advice, keyed by the change."""
    given = advice(parse(document(*rows, **others)))
    return {line.change: line for line in given.lines}


def verdicts(line: Line) -> list[Verdict]:
    return [check.verdict for check in line.checks]
