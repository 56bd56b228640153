# SPDX-License-Identifier: MIT
"""How benchmarks/fused_ops.cc is reported."""

from reports.experiments.spec import Axis, Bars, Column, Spec, Spread

IMPLEMENTATION = Axis("implementation", "textbook")
FUSED = {"implementation": "fused"}
SPEC = Spec(
    place=65,
    columns=("bytes_per_second", "bandwidth_share"),
    axis=IMPLEMENTATION,
    sentence=(
        Spread(Column("time_ratio"), FUSED),
        Spread(Column("bandwidth_share"), FUSED),
    ),
    plots=(Bars(versus=IMPLEMENTATION, split="model precision"),),
)
