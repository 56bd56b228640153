# SPDX-License-Identifier: MIT
"""Rows that differ in who does the work: made by hand, within 1 %."""

from typing import Any

from results import entry

STEP = ("tiny", "fp32", "forward_backward")


def row(
    experiment: str,
    axis: tuple[str, str],
    us: float,
    words: tuple[str, str, str] = STEP,
    **more: float,
) -> dict[str, Any]:
    """`axis`: its word, and the row's value of it. `words`: model, precision, mode."""
    model, precision, mode = words
    counters = {"batch": 4.0, "seq": 128.0, "half_width": 0.01, "flops": 1e9} | more
    sizes = f"batch:{counters['batch']:g}/seq:{counters['seq']:g}"
    return entry(
        f"{experiment}/{axis[1]}/{model}/{precision}/{mode}/{sizes}",
        us,
        f"{axis[0]}={axis[1]} model={model} precision={precision} mode={mode}",
        **counters,
    )


def step(name: str, us: float, *words: str, **more: float) -> dict[str, Any]:
    """A row of `implementations`; `words` replace the first of STEP."""
    model, precision, mode = (*words, *STEP[len(words) :])
    axis = ("implementation", name)
    return row("implementations", axis, us, (model, precision, mode), **more)


def op(
    name: str,
    implementation: str,
    us: float,
    one: str = "forward",
    **more: float,
) -> dict[str, Any]:
    """A row of `fused_ops`. `one`: its pass."""
    counters = {"batch": 4.0, "seq": 128.0, "half_width": 0.01, "bytes": 1e6} | more
    return entry(
        f"fused_ops/{name}/{implementation}/small/fp32/{one}/batch:4"
        f"/seq:{counters['seq']:g}",
        us,
        f"op={name} implementation={implementation} model=small precision=fp32 "
        f"pass={one}",
        bytes_per_second=1e12 / us,
        **counters,
    )


def attention(
    variant: str,
    us: float,
    phase: str = "forward",
    seq: int = 1024,
    precision: str = "fp32",
    d_head: int = 64,
) -> dict[str, Any]:
    """A row of `flash_attention`, whose kernel skips half of the FLOPs."""
    flops = 2.0 * seq**2 * d_head
    return entry(
        f"flash_attention/{variant}/{precision}/{phase}/heads:1/seq:{seq}"
        f"/d_head:{d_head}",
        us,
        f"variant={variant} precision={precision} phase={phase}",
        **{"heads": 1, "seq": seq, "d_head": d_head, "half_width": 0.01},
        **{"flops": 2 * flops, "kernel_flops_per_second": flops / us * 1e6},
    )
