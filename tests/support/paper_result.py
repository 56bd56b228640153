# SPDX-License-Identifier: MIT
"""A handmade result like one of the paper suite: every combination of several axes.

Times follow one law, so any ratio shows whether its two rows have the same shape.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from advised import timed
from results import entry

MODELS = {"small": 1.0, "medium": 3.0, "2.7B": 24.0}
PRECISIONS = {"fp32": 1.0, "bf16_autocast": 0.25}
MODES = {"forward": 1.0, "forward_backward": 3.0, "train_step": 3.5}
SEQS = (128, 256, 512, 1024)
PHASES = {"forward": 1.0, "backward": 2.0}
IMPLEMENTATIONS = {"textbook": 1.0, "library": 0.8, "fused": 0.5}
COMPONENTS = {"ffn": 0.6, "projections": 0.3, "softmax": 0.1}

# Experiment, time in us, words, numbers, and counters besides the common ones.
Case = tuple[str, float, str, str, dict[str, float]]


def step_us(model: str, precision: str, mode: str, seq: int) -> float:
    return 100.0 * MODELS[model] * PRECISIONS[precision] * MODES[mode] * seq


def _common(us: float, half_width: float) -> dict[str, float]:
    return {
        **{"half_width": half_width, "samples": 10, "cv": half_width},
        **{"mean_us": us, "stddev_us": us * half_width, "peak_bytes": 1e6},
        **{"flops": us * 1e6, "flops_per_second": 1e12, "bytes": us * 1e3},
        **{"forward_us": us / 3.5, "backward_us": us / 1.75, "optimizer_us": us / 7},
    }


def _steps() -> Iterator[Case]:
    for model, precision, mode, seq in product(MODELS, PRECISIONS, MODES, SEQS):
        us = step_us(model, precision, mode, seq)
        step = f"model={model} precision={precision} mode={mode}"
        shape = f"batch:4/seq:{seq}"
        error = {"logits_error": 1e-6 if precision == "fp32" else 1e-2}
        steady = {"steady_ratio": 1.0, "first_ratio": 2.0, "first_call_us": 2 * us}
        yield "model_size", us, step, shape, {}
        yield "precision", us, step, shape, error
        for calls in (0, 1, 5):
            yield "warmup", us, step, f"{shape}/calls:{calls}", steady


def _breakdowns() -> Iterator[Case]:
    modes = {"inference": {"forward": 1.0}, "train_step": PHASES}
    for model, precision, mode, seq in product(MODELS, PRECISIONS, modes, SEQS):
        step = f"model={model} precision={precision} mode={mode}"
        whole = sum(modes[mode].values())
        parts = [
            (phase, component, share * part)
            for phase, share in modes[mode].items()
            for component, part in (COMPONENTS | {"all": 1.0}).items()
        ]
        parts += [("step", "all", whole), ("step", "unattributed", 0.0)]
        for phase, component, share in parts:
            us = step_us(model, precision, "forward", seq) * share + 1
            words = f"{step} phase={phase} component={component}"
            counters = {"share": share / whole, "matmul_share": 0.7, "calls": 1.0}
            yield "breakdown", us, words, f"batch:4/seq:{seq}", counters


def _attention() -> Iterator[Case]:
    variants, seqs = ("naive", "sdpa_flash"), (256, 1024, 4096)
    axes = product(variants, PRECISIONS, PHASES, seqs, (16, 64))
    for variant, precision, phase, seq, d_head in axes:
        us = 1e-4 * PHASES[phase] * PRECISIONS[precision] * seq**2 * d_head
        words = f"variant={variant} precision={precision} phase={phase}"
        numbers = f"batch:8/seq:{seq}/d_head:{d_head}"
        yield "attention_scaling", us, words, numbers, {"saved_bytes": 8.0 * seq * seq}


def _ranks() -> Iterator[Case]:
    for model, precision, ranks in product(MODELS, PRECISIONS, (2, 4, 6)):
        us = step_us(model, precision, "train_step", 128)
        numbers = f"ranks:{ranks}/batch:4/seq:128"
        for strategy, times in (("per_parameter", 1.5), ("reducer", 1.0)):
            words = f"strategy={strategy} model={model} precision={precision}"
            yield "ddp", us * times, words, numbers, {}
        for sharding, times in (("replicated", 1.0), ("sharded", 1.2)):
            if precision == "fp32":
                words = f"sharding={sharding} model={model}"
                yield "sharded_optimizer", us * times, words, numbers, {}


def _implementations() -> Iterator[Case]:
    """Yields each step and operation; fused takes half of the textbook's time."""
    axes = product(MODELS, PRECISIONS, SEQS, IMPLEMENTATIONS.items())
    for model, precision, seq, (name, times) in axes:
        textbook_us = step_us(model, precision, "forward_backward", seq)
        us, shape = textbook_us * times, f"batch:4/seq:{seq}"
        words = f"implementation={name} model={model} precision={precision}"
        # The work does not depend on the time.
        flops = {"flops": textbook_us * 1e6}
        yield "implementations", us, f"{words} mode=forward_backward", shape, flops
        moved = {"bytes": textbook_us * 1e3, "bytes_per_second": 1e9}
        for op, which in (("swiglu", "forward"), ("cross_entropy", "both")):
            yield "fused_ops", us, f"op={op} {words} pass={which}", shape, moved


def _kernels() -> Iterator[Case]:
    variants = {"sdpa_flash": 1.0, "own": 1.5}
    axes = product(variants, PRECISIONS, PHASES, SEQS, (16, 64))
    for variant, precision, phase, seq, d_head in axes:
        us = 1e-4 * PHASES[phase] * variants[variant] * seq**2 * d_head
        words = f"variant={variant} precision={precision} phase={phase}"
        rate = {"kernel_flops_per_second": 1e12 / variants[variant]}
        yield "flash_attention", us, words, f"heads:1/seq:{seq}/d_head:{d_head}", rate


def _peaks(half_width: float) -> list[dict[str, Any]]:
    matmul = {"flops": 1e9, "flops_per_second": 2e12}
    copy = {"bytes_per_second": 1e11, "half_width": half_width}
    return [
        entry("peak/matmul/fp32/m:1", 5, "work=matmul precision=fp32", **matmul),
        entry("peak/copy/size:1", 5, "work=copy", **copy),
    ]


def paper_rows(half_width: float = 0.01) -> list[dict[str, Any]]:
    """Returns the rows, all with intervals of `half_width`."""
    makers = (_steps, _breakdowns, _attention, _ranks, _implementations, _kernels)
    return _peaks(half_width) + [
        timed(experiment, us, words, numbers, **_common(us, half_width) | counters)
        for make in makers
        for experiment, us, words, numbers, counters in make()
    ]
