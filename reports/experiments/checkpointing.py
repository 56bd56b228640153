# SPDX-License-Identifier: MIT
"""How benchmarks/checkpointing.cc is reported."""

from reports.experiments.spec import Axis, Bars, Column, Spec, Versus

CHECKPOINT = Axis("checkpoint", "none")
SPEC = Spec(
    place=35,
    columns=(
        "peak_ratio",
        Column("peak_bytes", "peak / predicted", per="predicted_peak_bytes", digits=6),
        Column("recomputed_flops", "FLOPs again", per="flops"),
        *("mfu_measured", "hfu_measured", "largest_batch", "largest_seq"),
    ),
    axis=CHECKPOINT,
    sentence=(Versus(CHECKPOINT, also=("largest_batch", "largest_seq")),),
    plots=(Bars(versus=CHECKPOINT), Bars("peak_bytes", CHECKPOINT)),
)
