# SPDX-License-Identifier: MIT
"""A device with round rates, and the rows of a step broken down on it."""

from typing import Any

from results import entry

Entry = dict[str, Any]
EXACT = {"half_width": 0.0}
_PART = {"matmul_share": 0, "flops": 0, "calls": 0, "share": 0.5}
STEP = "model=tiny precision=fp32 mode=train_step"
SHAPE = "batch:4/seq:128"


def timed(
    experiment: str, us: float, words: str, numbers: str, /, **counters: float
) -> Entry:
    """A row with an exact time. Its name consists of its words and numbers."""
    parameters, _, _ = words.partition(" | ")
    values = (word.partition("=")[2] for word in parameters.split())
    name = "/".join((experiment, *values, numbers))
    sizes = dict(number.split(":") for number in numbers.split("/"))
    known = {key: float(size) for key, size in sizes.items()}
    return entry(name, us, words, **known | EXACT | counters)


def product(
    precision: str, flops_per_second: float, tokens: int = 1, library: str = ""
) -> Entry:
    """A product that takes 1 us."""
    work = f"linear library={library}" if library else "matmul"
    return timed(
        *("peak", 1, f"work={work} precision={precision}", f"m:{tokens}/n:1/k:1"),
        flops_per_second=flops_per_second,
        flops=1e-6 * flops_per_second,
    )


# 1 GFLOP takes 1 ms; 1 ms copies 10 MB or updates 20 MB; an operator takes 1 us.
PEAKS: tuple[Entry, ...] = (
    product("fp32", 1e12),
    timed("peak", 1, "work=copy", "size:1", bytes_per_second=1e10),
    timed("peak", 1, "work=update", "size:1", bytes_per_second=2e10),
    timed("peak", 1000, "work=op_overhead", "ops:1000", op_us=1),
)
BF16_PEAK = product("bf16", 4e12)


def part(
    phase: str, component: str, us: float, step: str = STEP, /, **counters: float
) -> Entry:
    """A row of the breakdown of a train step of tiny, with an exact time."""
    words = f"{step} phase={phase} component={component}"
    return timed("breakdown", us, words, SHAPE, **_PART | counters)


def whole(us: float, step: str = STEP, /, **counters: float) -> Entry:
    return part("step", "all", us, step) | counters


def step(experiment: str, us: float, /, *words: str, **counters: float) -> Entry:
    """A timed train step of tiny; `words` are its precision and its batch size."""
    precision, batch = (*words, *("fp32", "4")[len(words) :])
    return timed(
        *(experiment, us, f"model=tiny precision={precision} mode=train_step"),
        f"batch:{batch}/seq:128",
        **{"p50_us": us} | counters,
    )


def op(implementation: str, us: float, model: str = "tiny") -> Entry:
    """A row of SwiGLU, timed alone."""
    words = f"op=swiglu implementation={implementation} model={model} precision=fp32"
    return timed("fused_ops", us, f"{words} pass=forward", SHAPE, bytes=2e6)
