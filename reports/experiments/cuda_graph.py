# SPDX-License-Identifier: MIT
"""How benchmarks/cuda_graph.cc is reported."""

from reports.experiments.spec import Axis, Bars, Column, Spec, Spread, Versus

LAUNCH = Axis("launch", "eager")
SPEC = Spec(
    place=46,
    columns=(
        *("peak_ratio", "replay_error", "capture_us", "nodes_per_step", "pool_bytes"),
        Column("capture_us", "capture / replay", per="p50_us"),
    ),
    axis=LAUNCH,
    sentence=(Versus(LAUNCH), Spread(Column("replay_error"))),
    plots=(Bars(versus=LAUNCH),),
)
