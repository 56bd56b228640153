# SPDX-License-Identifier: MIT
"""A handmade result like one of the paper suite: every combination of several axes.

Times follow one law, so any ratio shows whether its two rows have the same shape.
"""

import itertools
from typing import Any

from results import entry

MODELS = {"small": 1.0, "medium": 3.0, "2.7B": 24.0}
PRECISIONS = {"fp32": 1.0, "bf16_autocast": 0.25}
MODES = {"forward": 1.0, "forward_backward": 3.0, "train_step": 3.5}
SEQS = (128, 256, 512, 1024)
PHASES = {"forward": 1.0, "backward": 2.0}
IMPLEMENTATIONS = {"textbook": 1.0, "library": 0.8, "fused": 0.5}
COMPONENTS = {"ffn": 0.6, "projections": 0.3, "softmax": 0.1}


def step_us(model: str, precision: str, mode: str, seq: int) -> float:
    return 100.0 * MODELS[model] * PRECISIONS[precision] * MODES[mode] * seq


def _common(us: float, half_width: float, seq: int) -> dict[str, float]:
    return {
        **{"half_width": half_width, "batch": 4, "seq": seq},
        **{"samples": 10, "cv": half_width, "peak_bytes": 1e6, "mean_us": us},
        **{"flops": us * 1e6, "flops_per_second": 1e12, "bytes": us * 1e3},
        **{"forward_us": us / 3.5, "backward_us": us / 1.75, "optimizer_us": us / 7},
    }


def _steps(half_width: float) -> list[dict[str, Any]]:
    rows = []
    axes = itertools.product(MODELS, PRECISIONS, MODES, SEQS)
    for model, precision, mode, seq in axes:
        us = step_us(model, precision, mode, seq)
        words = f"model={model} precision={precision} mode={mode}"
        name = f"{model}/{precision}/{mode}/batch:4/seq:{seq}"
        common = _common(us, half_width, seq)
        rows.append(entry(f"model_size/{name}", us, words, **common))
        error = {"logits_error": 1e-6 if precision == "fp32" else 1e-2}
        rows.append(entry(f"precision/{name}", us, words, **common, **error))
        steady = {"steady_ratio": 1.0, "first_ratio": 2.0}
        steady |= {"stddev_us": us * half_width, "first_call_us": 2 * us}
        for calls in (0, 1, 5):
            rows.append(
                entry(
                    f"warmup/{name}/calls:{calls}",
                    us,
                    words,
                    **common,
                    **steady,
                    calls=calls,
                )
            )
    return rows


def _breakdowns(half_width: float) -> list[dict[str, Any]]:
    rows = []
    axes = itertools.product(MODELS, PRECISIONS, ("inference", "train_step"), SEQS)
    for model, precision, mode, seq in axes:
        phases = {"forward": 1.0} if mode == "inference" else PHASES
        whole = sum(phases.values())
        parts = [
            (phase, component, share * part)
            for phase, share in phases.items()
            for component, part in (COMPONENTS | {"all": 1.0}).items()
        ]
        parts += [("step", "all", whole), ("step", "unattributed", 0.0)]
        for phase, component, share in parts:
            us = step_us(model, precision, "forward", seq) * share + 1
            words = f"model={model} precision={precision} mode={mode} phase={phase}"
            rows.append(
                entry(
                    f"breakdown/{model}/{precision}/{mode}/{phase}/{component}/batch:4"
                    f"/seq:{seq}",
                    us,
                    f"{words} component={component}",
                    **_common(us, half_width, seq),
                    share=share / whole,
                    matmul_share=0.7,
                    calls=1,
                )
            )
    return rows


def _attention(half_width: float) -> list[dict[str, Any]]:
    rows = []
    axes = itertools.product(
        ("naive", "sdpa_flash"), PRECISIONS, PHASES, (256, 1024, 4096), (16, 64)
    )
    for variant, precision, phase, seq, d_head in axes:
        us = 1e-4 * PHASES[phase] * PRECISIONS[precision] * seq**2 * d_head
        rows.append(
            entry(
                f"attention_scaling/{variant}/{precision}/{phase}/batch:8/seq:{seq}"
                f"/d_head:{d_head}",
                us,
                f"variant={variant} precision={precision} phase={phase}",
                **_common(us, half_width, seq) | {"batch": 8.0, "d_head": d_head},
                saved_bytes=8.0 * seq * seq,
            )
        )
    return rows


def _ranks(half_width: float) -> list[dict[str, Any]]:
    rows = []
    for model, precision, ranks in itertools.product(MODELS, PRECISIONS, (2, 4, 6)):
        us = step_us(model, precision, "train_step", 128)
        setting = f"{model}/{precision}"
        common = _common(us, half_width, 128)
        strategies = {"per_parameter": 1.5, "reducer": 1.0}
        for strategy, times in strategies.items():
            rows.append(
                entry(
                    f"ddp/{strategy}/{setting}/ranks:{ranks}/batch:4/seq:128",
                    us * times,
                    f"strategy={strategy} model={model} precision={precision}",
                    **common | {"ranks": float(ranks)},
                )
            )
        if precision == "fp32":
            for sharding, times in (("replicated", 1.0), ("sharded", 1.2)):
                rows.append(
                    entry(
                        f"sharded_optimizer/{sharding}/{model}/ranks:{ranks}/batch:4"
                        "/seq:128",
                        us * times,
                        f"sharding={sharding} model={model}",
                        **common | {"ranks": float(ranks)},
                    )
                )
    return rows


def _peaks(half_width: float) -> list[dict[str, Any]]:
    known = {"half_width": half_width}
    product = {"flops": 1e9, "flops_per_second": 2e12, "m": 1.0, "n": 1.0, "k": 1.0}
    return [
        entry("peak/matmul/fp32/m:1", 5, "work=matmul precision=fp32", **product),
        entry(
            "peak/copy/size:1", 5, "work=copy", bytes_per_second=1e11, size=1, **known
        ),
    ]


def _implementations(half_width: float) -> list[dict[str, Any]]:
    """Rows of each step and operation; fused takes half of the textbook's time."""
    rows = []
    axes = itertools.product(MODELS, PRECISIONS, SEQS, IMPLEMENTATIONS.items())
    for model, precision, seq, (name, times) in axes:
        us = step_us(model, precision, "forward_backward", seq) * times
        words = f"implementation={name} model={model} precision={precision}"
        setting, common = f"{model}/{precision}", _common(us, half_width, seq)
        rows.append(
            entry(
                f"implementations/{name}/{setting}/forward_backward/batch:4/seq:{seq}",
                us,
                f"{words} mode=forward_backward",
                # A step's work does not depend on its time.
                **common | {"flops": common["flops"] / times},
            )
        )
        for op, one in (("swiglu", "forward"), ("cross_entropy", "both")):
            rows.append(
                entry(
                    f"fused_ops/{op}/{name}/{setting}/{one}/batch:4/seq:{seq}",
                    us,
                    f"op={op} {words} pass={one}",
                    **common | {"bytes": common["bytes"] / times},
                    bytes_per_second=1e9,
                )
            )
    return rows


def _kernels(half_width: float) -> list[dict[str, Any]]:
    rows = []
    variants = {"sdpa_flash": 1.0, "own": 1.5}
    axes = itertools.product(variants, PRECISIONS, PHASES, SEQS, (16, 64))
    for variant, precision, phase, seq, d_head in axes:
        us = 1e-4 * PHASES[phase] * variants[variant] * seq**2 * d_head
        common = _common(us, half_width, seq) | {"heads": 1.0, "d_head": d_head}
        del common["batch"]
        rows.append(
            entry(
                f"flash_attention/{variant}/{precision}/{phase}/heads:1/seq:{seq}"
                f"/d_head:{d_head}",
                us,
                f"variant={variant} precision={precision} phase={phase}",
                **common,
                kernel_flops_per_second=1e12 / variants[variant],
            )
        )
    return rows


def paper_rows(half_width: float = 0.01) -> list[dict[str, Any]]:
    """Returns the rows, all with intervals of `half_width`."""
    return [
        row
        for make in (
            *(_peaks, _steps, _breakdowns, _attention, _ranks),
            *(_implementations, _kernels),
        )
        for row in make(half_width)
    ]
