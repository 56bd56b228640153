# SPDX-License-Identifier: MIT
"""How benchmarks/memory.cc is reported."""

from reports.experiments.spec import Column, Extreme, Spec, Spread

SPEC = Spec(
    place=30,
    columns=(
        *("own_peak_bytes", "predicted_peak_bytes", "prediction_error"),
        *("largest_allocation_bytes", "residual_bytes", "logit_bytes", "peak_at"),
    ),
    sentence=(
        Spread(Column("prediction_error")),
        Extreme("own_peak_bytes", also=("peak_at", "peak_component")),
        Extreme("largest_allocation_bytes", also=("largest", "largest_component")),
    ),
    plots=(),
)
